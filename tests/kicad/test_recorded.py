"""Replays give what kicad-cli gave, and only of the very files it gave it for."""

from pathlib import Path

import pytest

from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.probe import KicadCli
from boardreadyops.kicad.recorded import RecordedReports, read_recording, write_recording
from boardreadyops.kicad.runner import InstalledKicad
from tests.kicad.boards import BOARDS, only_project

RECORDED = BOARDS / "recorded"


@pytest.mark.kicad
@pytest.mark.parametrize("stage", ["first", "fixed"])
async def test_a_replay_equals_the_real_run(kicad_cli: KicadCli, workspace: Path, stage: str) -> None:
    project = only_project(BOARDS / stage)
    real, replay = InstalledKicad(kicad_cli), RecordedReports(RECORDED)
    for one, other in (
        (
            await real.drc(project, workspace, timeout_seconds=60),
            await replay.drc(project, workspace, timeout_seconds=60),
        ),
        (
            await real.erc(project, workspace, timeout_seconds=60),
            await replay.erc(project, workspace, timeout_seconds=60),
        ),
    ):
        assert isinstance(one, Report)
        assert isinstance(other, Report)
        assert one.findings == other.findings


async def test_a_replay_says_that_it_is_one() -> None:
    replay = RecordedReports(RECORDED)
    assert replay.tool_versions == {"kicad-cli": "9.0.8 (recorded)"}
    assert replay.note == "replayed from recorded reports"


@pytest.mark.parametrize(
    "file", ["power-board.kicad_pcb", "power-board.kicad_pro", "lib/power-board.kicad_sym"]
)
async def test_files_that_differ_in_one_byte_were_never_recorded(
    checkout: Path, workspace: Path, file: str
) -> None:
    with (checkout / file).open("a") as stream:
        stream.write("\n")
    replay = RecordedReports(RECORDED)
    answer = await replay.drc(only_project(checkout), workspace, timeout_seconds=60)
    assert isinstance(answer, CouldNotCheck)
    assert answer.reason == CouldNotReason.NOT_RECORDED


async def test_the_place_of_the_checkout_and_other_files_do_not_matter(
    checkout: Path, workspace: Path
) -> None:
    (checkout / "NOTES.md").write_text("more")
    replay = RecordedReports(RECORDED)
    assert isinstance(await replay.drc(only_project(checkout), workspace, timeout_seconds=60), Report)


def test_a_recording_comes_back_as_it_was_written(tmp_path: Path) -> None:
    recording = read_recording(RECORDED / "first")
    write_recording(tmp_path, recording)
    assert read_recording(tmp_path) == recording


def test_recordings_hold_no_places_of_the_machine_that_made_them() -> None:
    for file in RECORDED.rglob("*.json"):
        assert "/tmp/" not in file.read_text()
        assert "/home/" not in file.read_text()
