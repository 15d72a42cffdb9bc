"""`check PATH` as a user runs it."""

import argparse
import json
from pathlib import Path

import pytest

from boardreadyops.cli.check import add_commands
from tests.kicad.boards import BOARDS, fake_cli

CLEAN_BOARD = {
    "coordinate_units": "mm",
    "kicad_version": "9.0.8",
    "violations": [],
    "unconnected_items": [],
    "schematic_parity": [],
    "sheets": [{"path": "/", "violations": []}],
}
COUNTS = "echo 'Found 0 violations'; echo 'Found 0 schematic parity issues'"


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_commands(parser.add_subparsers())
    parsed = parser.parse_args(["check", *arguments])
    code = parsed.handler(parsed)
    assert isinstance(code, int)
    return code


def fake(tmp_path: Path, violations: list[dict[str, object]], exit_code: int) -> str:
    document = json.dumps(CLEAN_BOARD | {"violations": violations})
    counts = COUNTS.replace("0 violations", f"{len(violations)} violations")
    script = f"echo '{document}' > \"$out\"; case $out in */erc-*) {COUNTS}; exit 0;; esac; {counts}; exit {exit_code}"
    return str(fake_cli(tmp_path, script).path)


def test_a_ready_board_is_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(BOARDS / "fixed"), "--kicad-cli", fake(tmp_path, [], 0)) == 0
    assert capsys.readouterr().out.startswith("Ready to fabricate\n")


def test_a_faulty_board_is_exit_code_1_and_the_finding_is_placed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    item = {"description": "Pad 1 [N] of R1 on F.Cu", "pos": {"x": 1.5, "y": 2}, "uuid": "u"}
    fault: dict[str, object] = {
        "type": "clearance",
        "severity": "error",
        "description": "Too near",
        "items": [item],
    }
    assert run(str(BOARDS / "fixed"), "--kicad-cli", fake(tmp_path, [fault], 5)) == 1
    out = capsys.readouterr().out
    assert out.startswith("Not ready: 1 blocking finding\n")
    assert "clearance: Too near — pad 1 [N] of R1 on F.Cu [power-board.kicad_pcb at 1.5, 2 mm]" in out


def test_without_kicad_cli_it_is_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(BOARDS / "fixed"), "--kicad-cli", str(tmp_path / "none"), "--json") == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["decision"]) == ("failed", "error")


def test_a_path_that_is_no_folder_is_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "none")) == 2
    assert capsys.readouterr().err.endswith("is not a folder\n")
