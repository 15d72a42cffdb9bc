"""A whole checkout in, one answer out."""

import json
import shutil
from pathlib import Path

import pytest

from boardreadyops.checks.report import BoardReport
from boardreadyops.checks.run import check_repository
from boardreadyops.kicad.outcome import CouldNotReason
from boardreadyops.kicad.probe import KicadCli, Unavailable
from boardreadyops.kicad.recorded import RecordedReports
from boardreadyops.kicad.runner import InstalledKicad, KicadRunner, MissingKicad
from tests.kicad.boards import BOARDS, copy_of, fake_cli, rename_project

REPLAY = RecordedReports(BOARDS / "recorded")


async def check(
    root: Path, workspace: Path, kicad: KicadRunner = REPLAY, timeout_seconds: float = 120
) -> BoardReport:
    return await check_repository(root, workspace, kicad, timeout_seconds=timeout_seconds)


def states(report: BoardReport) -> dict[str, str]:
    return {check.name: check.state for check in report.checks}


def change_settings(root: Path, ignored: tuple[str, ...], section: str = "board") -> None:
    file = root / "power-board.kicad_pro"
    document = json.loads(file.read_text())
    design = document["board"]["design_settings"] if section == "board" else document.setdefault("erc", {})
    severities = design.setdefault("rule_severities", {})
    severities.update(dict.fromkeys(ignored or tuple(severities), "ignore"))
    file.write_text(json.dumps(document))


@pytest.mark.kicad
@pytest.mark.parametrize("stage", ["first", "fixed"])
async def test_replay_and_real_run_give_one_answer(kicad_cli: KicadCli, workspace: Path, stage: str) -> None:
    real = await check(BOARDS / stage, workspace, InstalledKicad(kicad_cli))
    replay = await check(BOARDS / stage, workspace)
    assert (real.status, real.decision, real.findings, real.checks) == (
        replay.status,
        replay.decision,
        replay.findings,
        replay.checks,
    )
    assert replay.summary == real.summary + "\nThese results were replayed from recorded reports."
    assert real.tool_versions == {"kicad-cli": kicad_cli.version}


async def test_the_first_board_fails_and_the_fixed_one_passes(workspace: Path) -> None:
    first, fixed = await check(BOARDS / "first", workspace), await check(BOARDS / "fixed", workspace)
    assert (first.status, first.decision) == ("completed", "fail")
    assert [(f.rule, f.severity) for f in first.findings] == [("clearance", "error")]
    assert (fixed.status, fixed.decision, fixed.findings) == ("completed", "pass", ())
    assert states(fixed) == {"drc": "passed", "schematic_parity": "passed", "erc": "passed"}


async def test_the_result_has_exactly_the_parts_that_checks_know(workspace: Path) -> None:
    document = (await check(BOARDS / "first", workspace)).to_json()
    assert set(document) == {
        "status", "decision", "summary", "projects", "findings", "truncated", "checks", "tool_versions", "metrics",
    }  # fmt: skip
    assert json.loads(json.dumps(document)) == document
    assert document["projects"] == [{"id": "power-board", "path": "power-board.kicad_pro"}]


async def test_a_repository_without_a_project_could_not_be_checked(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "empty").mkdir()
    report = await check(tmp_path / "empty", workspace)
    assert (report.status, report.decision) == ("failed", "error")
    assert report.summary.startswith("Could not check: no KiCad project found. Commit the .kicad_pro")


async def test_a_board_without_a_project_file_is_named(checkout: Path, workspace: Path) -> None:
    (checkout / "power-board.kicad_pro").unlink()
    report = await check(checkout, workspace)
    assert report.decision == "error"
    assert "power-board.kicad_pcb has no project file" in report.summary


async def test_a_project_without_a_board_could_not_be_checked(checkout: Path, workspace: Path) -> None:
    (checkout / "power-board.kicad_pcb").unlink()
    report = await check(checkout, workspace)
    assert (report.status, report.decision) == ("failed", "error")
    assert "power-board has no board: commit power-board.kicad_pcb" in report.summary


@pytest.mark.kicad
async def test_a_project_without_a_schematic_passes_saying_what_was_not_run(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    (checkout / "power-board.kicad_sch").unlink()
    report = await check(checkout, workspace, InstalledKicad(kicad_cli))
    assert report.decision == "pass"
    assert states(report) == {"drc": "passed", "schematic_parity": "not_run", "erc": "not_run"}
    assert "ERC of power-board: not run: the project has no schematic" in report.summary


@pytest.mark.kicad
async def test_a_schematic_under_another_name_is_not_passed_over(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    (checkout / "power-board.kicad_sch").rename(checkout / "power_board.kicad_sch")
    report = await check(checkout, workspace, InstalledKicad(kicad_cli))
    assert report.decision == "error"
    assert "only power_board.kicad_sch" in report.summary


@pytest.mark.kicad
async def test_two_projects_with_spaces_and_umlauts_are_both_checked(
    kicad_cli: KicadCli, tmp_path: Path, workspace: Path
) -> None:
    copy_of("first", tmp_path / "repo" / "Steuergerät links")
    rename_project(tmp_path / "repo" / "Steuergerät links", "größe 1")
    copy_of("fixed", tmp_path / "repo" / "right")
    report = await check(tmp_path / "repo", workspace, InstalledKicad(kicad_cli))
    assert [project.id for project in report.projects] == ["Steuergerät links/größe 1", "right/power-board"]
    assert report.decision == "fail"
    assert {(f.rule, f.project) for f in report.findings if f.severity == "error"} == {
        ("clearance", "Steuergerät links/größe 1")
    }


@pytest.mark.parametrize("text", ["", "{", "[]", '{"board": 3}', "<<<<<<< HEAD\n{}", "\xff"])
async def test_a_broken_project_file_is_noticed(checkout: Path, workspace: Path, text: str) -> None:
    (checkout / "power-board.kicad_pro").write_text(text, encoding="latin-1")
    report = await check(checkout, workspace)
    assert (report.status, report.decision) == ("failed", "error")
    assert set(states(report).values()) == {"could_not_run"}
    assert "the project file power-board.kicad_pro is unusable" in report.summary


@pytest.mark.kicad
async def test_with_every_rule_ignored_nothing_was_checked(
    kicad_cli: KicadCli, tmp_path: Path, workspace: Path
) -> None:
    root = copy_of("first", tmp_path / "first")
    change_settings(root, ())
    report = await check(root, workspace, InstalledKicad(kicad_cli))
    assert report.decision == "error"
    assert states(report) == {"drc": "could_not_run", "schematic_parity": "could_not_run", "erc": "passed"}
    assert "ignores every essential rule" in report.summary


@pytest.mark.kicad
async def test_one_essential_rule_ignored_is_a_warning(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    change_settings(checkout, ("clearance",))
    change_settings(checkout, ("pin_to_pin",), section="erc")
    report = await check(checkout, workspace, InstalledKicad(kicad_cli))
    assert report.decision == "pass"
    assert [f.message for f in report.findings] == [
        "The project ignores the rule clearance: violations of it are not reported",
        "The project ignores the rule pin_to_pin: violations of it are not reported",
    ]


@pytest.mark.kicad
async def test_a_damaged_rules_file_is_not_a_pass(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    (checkout / "power-board.kicad_dru").write_text("(version 1) (rule x (constraint clearance (min 9mm")
    report = await check(checkout, workspace, InstalledKicad(kicad_cli))
    assert report.decision == "error"
    assert "design rules file power-board.kicad_dru is broken" in report.summary


async def test_without_kicad_cli_nothing_passes(workspace: Path) -> None:
    missing = MissingKicad(Unavailable(CouldNotReason.MISSING_TOOL, "kicad-cli was not found"))
    report = await check(BOARDS / "fixed", workspace, missing)
    assert (report.status, report.decision) == ("failed", "error")
    assert report.summary.startswith("Could not check: kicad-cli was not found")
    assert report.tool_versions == {}


async def test_files_that_were_never_recorded_could_not_be_checked(checkout: Path, workspace: Path) -> None:
    with (checkout / "power-board.kicad_pcb").open("a") as stream:
        stream.write("\n")
    assert (await check(checkout, workspace)).decision == "error"


async def test_passing_the_deadline_is_timed_out(tmp_path: Path, workspace: Path) -> None:
    slow = InstalledKicad(fake_cli(tmp_path, "exec sleep 600"))
    report = await check(BOARDS / "fixed", workspace, slow, timeout_seconds=0.3)
    assert (report.status, report.decision) == ("timed_out", "error")
    assert "its deadline" in report.summary
    assert {check.could_not for check in report.checks} == {CouldNotReason.TIMED_OUT}


@pytest.mark.kicad
async def test_a_found_error_stands_when_another_check_could_not_run(
    kicad_cli: KicadCli, tmp_path: Path, workspace: Path
) -> None:
    root = copy_of("first", tmp_path / "repo")
    shutil.copytree(BOARDS / "fixed", root / "other")
    (root / "other" / "power-board.kicad_pcb").write_text("(kicad_pcb")
    report = await check(root, workspace, InstalledKicad(kicad_cli))
    assert (report.status, report.decision) == ("completed", "fail")
    assert "DRC of other/power-board: could not run" in report.summary
