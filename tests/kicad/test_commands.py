"""The real kicad-cli on the demo boards, and fakes that misbehave."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from boardreadyops.kicad import commands, process
from boardreadyops.kicad.commands import run_drc, run_erc
from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.probe import KicadCli
from boardreadyops.kicad.project import KicadProject
from tests.kicad.boards import BOARDS, copy_of, fake_cli, only_project

CLEAN = {
    "coordinate_units": "mm",
    "kicad_version": "9.0.8",
    "violations": [],
    "unconnected_items": [],
    "schematic_parity": [],
}
CLEAN_SCRIPT = f"echo '{json.dumps(CLEAN)}' > \"$out\""
FOUND = "echo 'Found 0 violations'; echo 'Found 0 unconnected items'; echo 'Found 0 schematic parity issues'"


async def drc(cli: KicadCli, root: Path, workspace: Path, seconds: float = 60) -> Report | CouldNotCheck:
    return await run_drc(cli, only_project(root), workspace, timeout_seconds=seconds)


async def refused(cli: KicadCli, root: Path, workspace: Path, seconds: float = 60) -> CouldNotCheck:
    answer = await drc(cli, root, workspace, seconds)
    assert isinstance(answer, CouldNotCheck)
    return answer


@pytest.mark.kicad
async def test_the_first_board_has_exactly_its_one_clearance_error(
    kicad_cli: KicadCli, workspace: Path
) -> None:
    answer = await drc(kicad_cli, BOARDS / "first", workspace)
    assert isinstance(answer, Report)
    assert answer.parity == "ran"
    (finding,) = answer.findings
    assert (finding.rule, finding.severity, finding.path) == ("clearance", "error", "power-board.kicad_pcb")
    assert finding.message.startswith("Clearance violation: 0.125 mm, rule 0.2 mm — via [VBUS]")
    assert "track [/CC2] on F.Cu" in finding.message
    assert finding.position is not None
    assert (finding.position.x_mm, finding.position.y_mm, finding.position.layer) == (109.2, 96.15, "F.Cu")
    assert len(finding.item_uuids) == 2


@pytest.mark.kicad
async def test_the_fixed_board_is_clean_in_all_three_checks(kicad_cli: KicadCli, workspace: Path) -> None:
    answer = await drc(kicad_cli, BOARDS / "fixed", workspace)
    assert isinstance(answer, Report)
    assert (answer.findings, answer.parity) == ((), "ran")
    electrical = await run_erc(kicad_cli, only_project(BOARDS / "fixed"), workspace, timeout_seconds=60)
    assert isinstance(electrical, Report)
    assert electrical.findings == ()


@pytest.mark.kicad
async def test_a_check_writes_nothing_into_the_checkout(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    def tree() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in checkout.rglob("*") if path.is_file()}

    before = tree()
    await drc(kicad_cli, checkout, workspace)
    await run_erc(kicad_cli, only_project(checkout), workspace, timeout_seconds=60)
    assert tree() == before


@pytest.mark.kicad
async def test_a_footprint_deleted_from_the_board_blocks_though_kicad_only_warns(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    settings = checkout / "power-board.kicad_pro"
    document = json.loads(settings.read_text())
    document["board"]["design_settings"]["rule_severities"]["missing_footprint"] = "warning"
    settings.write_text(json.dumps(document))
    board = checkout / "power-board.kicad_pcb"
    text = board.read_text()
    start = text.index('\t(footprint "power-board:MountingHole_M3"')
    end = text.index("\n\t)\n", start) + len("\n\t)\n")
    board.write_text(text[:start] + text[end:])
    answer = await drc(kicad_cli, checkout, workspace)
    assert isinstance(answer, Report)
    assert [(f.rule, f.severity, f.check) for f in answer.findings] == [
        ("missing_footprint", "error", "schematic_parity")
    ]


@pytest.mark.kicad
async def test_an_open_net_is_a_violation(kicad_cli: KicadCli, checkout: Path, workspace: Path) -> None:
    board = checkout / "power-board.kicad_pcb"
    text = board.read_text()
    start = text.index("\t(segment\n\t\t(start 133.5 92)")
    end = text.index("\n\t)\n", start) + len("\n\t)\n")
    board.write_text(text[:start] + text[end:])
    answer = await drc(kicad_cli, checkout, workspace)
    assert isinstance(answer, Report)
    assert "unconnected_items" in {f.rule for f in answer.findings if f.severity == "error"}


@pytest.mark.kicad
async def test_schematic_positions_are_millimetres(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    sheet = checkout / "power-board.kicad_sch"
    text = sheet.read_text()
    start = text.index("\t(wire", text.index("(xy 71.12 93.98)") - 120)
    end = text.index("\n\t(", start + 5)
    sheet.write_text(text[:start] + text[end + 1 :])
    answer = await run_erc(kicad_cli, only_project(checkout), workspace, timeout_seconds=60)
    assert isinstance(answer, Report)
    unconnected = [f for f in answer.findings if f.rule == "pin_not_connected"]
    assert unconnected[0].position is not None
    assert (unconnected[0].position.x_mm, unconnected[0].position.y_mm) == (71.12, 93.98)
    assert unconnected[0].sheet == "/"
    assert "symbol R2 Pin 1" in unconnected[0].message


@pytest.mark.kicad
async def test_a_library_that_is_not_here_is_a_note_about_the_environment(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    (checkout / "fp-lib-table").unlink()
    answer = await drc(kicad_cli, checkout, workspace)
    assert isinstance(answer, Report)
    (finding,) = answer.findings
    assert (finding.severity, finding.rule) == ("info", "lib_footprint_issues")
    assert "library 'power-board' is not on this runner; 13 items not compared" in finding.message


@pytest.mark.kicad
async def test_a_board_newer_than_the_tool_is_told_apart(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    board = checkout / "power-board.kicad_pcb"
    board.write_text(board.read_text().replace("(version 20241229)", "(version 20991229)", 1))
    answer = await refused(kicad_cli, checkout, workspace)
    assert answer.reason == CouldNotReason.FILE_NEWER_THAN_TOOL
    assert "power-board.kicad_pcb was written by a newer KiCad" in answer.detail


@pytest.mark.kicad
async def test_a_board_cut_short_is_unreadable(kicad_cli: KicadCli, checkout: Path, workspace: Path) -> None:
    board = checkout / "power-board.kicad_pcb"
    board.write_text(board.read_text()[:5000])
    answer = await refused(kicad_cli, checkout, workspace)
    assert answer.reason == CouldNotReason.UNREADABLE_FILE


@pytest.mark.kicad
async def test_an_unreadable_schematic_is_not_a_clean_one(
    kicad_cli: KicadCli, checkout: Path, workspace: Path
) -> None:
    (checkout / "power-board.kicad_sch").write_text("junk")
    assert isinstance(await drc(kicad_cli, checkout, workspace), CouldNotCheck)
    answer = await run_erc(kicad_cli, only_project(checkout), workspace, timeout_seconds=60)
    assert isinstance(answer, CouldNotCheck)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 0", CouldNotReason.NO_REPORT),
        ("exit 5", CouldNotReason.NO_REPORT),
        ('echo "{" > "$out"; exit 0', CouldNotReason.BROKEN_REPORT),
        ('echo "[]" > "$out"; exit 0', CouldNotReason.BROKEN_REPORT),
        ('echo "{}" > "$out"; exit 0', CouldNotReason.BROKEN_REPORT),
        (': > "$out"; exit 0', CouldNotReason.NO_REPORT),
        ('ln -s /etc/passwd "$out"; exit 0', CouldNotReason.BROKEN_REPORT),
        (f"{CLEAN_SCRIPT}; {FOUND}; exit 5", CouldNotReason.BROKEN_REPORT),
        (f"{CLEAN_SCRIPT}; echo Found 7 violations; exit 0", CouldNotReason.BROKEN_REPORT),
        (f"{CLEAN_SCRIPT}; {FOUND}; exit 1", CouldNotReason.UNEXPECTED_EXIT),
        ("echo Failed to load board >&2; exit 3", CouldNotReason.UNREADABLE_FILE),
        ("kill -KILL $$", CouldNotReason.KILLED),
        ("exit 137", CouldNotReason.KILLED),
        ("kill -SEGV $$", CouldNotReason.KILLED),
    ],
)
async def test_what_kicad_cli_leaves_is_never_taken_for_a_clean_board(
    tmp_path: Path, checkout: Path, workspace: Path, script: str, reason: CouldNotReason
) -> None:
    answer = await refused(fake_cli(tmp_path, script), checkout, workspace)
    assert answer.reason == reason


async def test_a_complete_and_clean_report_is_believed(
    tmp_path: Path, checkout: Path, workspace: Path
) -> None:
    answer = await drc(fake_cli(tmp_path, f"{CLEAN_SCRIPT}; {FOUND}"), checkout, workspace)
    assert answer == Report("drc", "9.0.8", (), "ran")


async def test_parity_counts_as_run_only_when_its_count_was_printed(
    tmp_path: Path, checkout: Path, workspace: Path
) -> None:
    script = f"{CLEAN_SCRIPT}; echo 'Found 0 violations'; echo Failed to fetch schematic netlist >&2"
    answer = await drc(fake_cli(tmp_path, script), checkout, workspace)
    assert isinstance(answer, Report)
    assert isinstance(answer.parity, CouldNotCheck)
    assert answer.parity.reason == CouldNotReason.PARITY_NOT_RUN
    assert "Failed to fetch schematic netlist" in answer.parity.detail


async def test_megabytes_of_output_are_bounded_and_their_end_is_kept(
    tmp_path: Path, checkout: Path, workspace: Path
) -> None:
    noise = "head -c 8000000 /dev/zero | tr '\\0' x; head -c 8000000 /dev/zero | tr '\\0' y >&2; echo"
    answer = await drc(fake_cli(tmp_path, f"{noise}; {CLEAN_SCRIPT}; {FOUND}"), checkout, workspace)
    assert answer == Report("drc", "9.0.8", (), "ran")


async def test_an_oversize_report_is_not_read(
    tmp_path: Path, checkout: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "REPORT_LIMIT_BYTES", 50)
    answer = await refused(fake_cli(tmp_path, f"{CLEAN_SCRIPT}; {FOUND}"), checkout, workspace)
    assert answer.reason == CouldNotReason.OVERSIZE_REPORT


def pipe_for_deaths(tmp_path: Path) -> tuple[Path, int]:
    """A named pipe: whoever holds its writing end is alive; the reader meets the end when nobody is."""
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    return pipe, os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)


async def everyone_died(reader: int) -> bool:
    async with asyncio.timeout(10):
        while await read_some(reader):
            pass
    os.close(reader)
    return True


async def read_some(reader: int) -> bytes:
    """What the pipe's writers say next; empty when all of them are dead."""
    readable = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(reader, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(reader)
    return os.read(reader, 4096)


async def test_one_that_hangs_is_ended_with_its_deaf_children(
    tmp_path: Path, checkout: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "TERMINATION_GRACE_SECONDS", 0.1)
    pipe, reader = pipe_for_deaths(tmp_path)
    script = f"exec 9>'{pipe}'; echo started >&9; trap '' TERM; (trap '' TERM; sleep 600) & sleep 600; wait"
    answer = await refused(fake_cli(tmp_path, script), checkout, workspace, seconds=0.5)
    assert answer.reason == CouldNotReason.TIMED_OUT
    assert "its deadline" in answer.detail
    assert await everyone_died(reader)


async def test_a_child_left_behind_does_not_hold_the_answer(
    tmp_path: Path, checkout: Path, workspace: Path
) -> None:
    pipe, reader = pipe_for_deaths(tmp_path)
    script = f"exec 9>'{pipe}'; sleep 600 & {CLEAN_SCRIPT}; {FOUND}"
    answer = await drc(fake_cli(tmp_path, script), checkout, workspace, seconds=30)
    assert answer == Report("drc", "9.0.8", (), "ran")
    assert await everyone_died(reader)


async def test_cancelling_ends_the_whole_group(tmp_path: Path, checkout: Path, workspace: Path) -> None:
    pipe, reader = pipe_for_deaths(tmp_path)
    cli = fake_cli(tmp_path, f"exec 9>'{pipe}'; echo started >&9; sleep 600 & sleep 600")
    task = asyncio.ensure_future(drc(cli, checkout, workspace, seconds=300))
    async with asyncio.timeout(10):
        assert await read_some(reader) == b"started\n"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await everyone_died(reader)


@pytest.mark.parametrize("turns", range(8))
async def test_cancelling_while_it_starts_ends_the_whole_group(
    tmp_path: Path, checkout: Path, workspace: Path, turns: int
) -> None:
    pipe, reader = pipe_for_deaths(tmp_path)
    keep_open = os.open(pipe, os.O_WRONLY)
    cli = fake_cli(tmp_path, f"exec 9>'{pipe}'; sleep 600 & sleep 600")
    task = asyncio.ensure_future(drc(cli, checkout, workspace, seconds=300))
    for _ in range(turns):
        await asyncio.wait([task], timeout=0)
    task.cancel()
    async with asyncio.timeout(20):
        with pytest.raises(asyncio.CancelledError):
            await task
    os.close(keep_open)
    assert await everyone_died(reader)


async def test_nothing_of_our_environment_reaches_kicad_cli(
    tmp_path: Path, checkout: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_SECRET_KEY", "not-for-boards")
    monkeypatch.setenv("KICAD_CONFIG_HOME", "/somebody/else")
    await drc(fake_cli(tmp_path, f"env > '{tmp_path}/seen'; exit 1"), checkout, workspace)
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines())
    assert "not-for-boards" not in seen.values()
    for name in ("HOME", "KICAD_CONFIG_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        assert seen[name].startswith(str(workspace))


async def test_a_program_that_is_gone_is_missing(checkout: Path, workspace: Path) -> None:
    answer = await refused(KicadCli(Path("/nowhere/kicad-cli"), "9.0.8"), checkout, workspace)
    assert answer.reason == CouldNotReason.MISSING_TOOL


def test_the_demo_has_one_project_in_each_commit() -> None:
    for stage in ("first", "fixed"):
        project: KicadProject = only_project(BOARDS / stage)
        assert project.id == "power-board"
        assert project.board is not None
        assert project.schematic is not None


@pytest.mark.kicad
async def test_fingerprints_do_not_depend_on_the_place_of_the_checkout(
    kicad_cli: KicadCli, tmp_path: Path, workspace: Path
) -> None:
    one = await drc(kicad_cli, BOARDS / "first", workspace)
    two = await drc(kicad_cli, copy_of("first", tmp_path / "elsewhere"), workspace)
    assert isinstance(one, Report)
    assert isinstance(two, Report)
    assert one.findings == two.findings
