"""Run kicad-cli's checks on one project."""

import stat
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

from boardreadyops.kicad.interpret import Execution, interpret_drc, interpret_erc
from boardreadyops.kicad.messages import clean
from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.probe import KicadCli, private_environment
from boardreadyops.kicad.process import Finished, NotStarted, TimedOut, run_bounded
from boardreadyops.kicad.project import KicadProject

REPORT_LIMIT_BYTES = 64 * 1024 * 1024  # a larger report of kicad-cli is not read
_REPORT = ["--severity-all", "--format", "json", "--units", "mm", "--exit-code-violations"]


async def run_drc(
    cli: KicadCli, project: KicadProject, workspace: Path, *, timeout_seconds: float
) -> Report | CouldNotCheck:
    """Check the design rules, and parity where the project has a schematic of the board's name."""
    execution = await execute_drc(cli, project, workspace, timeout_seconds=timeout_seconds)
    if isinstance(execution, CouldNotCheck):
        return execution
    return interpret_drc(execution, project, parity=parity_asked(project))


async def run_erc(
    cli: KicadCli, project: KicadProject, workspace: Path, *, timeout_seconds: float
) -> Report | CouldNotCheck:
    """Check the electrical rules of the schematic."""
    execution = await execute_erc(cli, project, workspace, timeout_seconds=timeout_seconds)
    return execution if isinstance(execution, CouldNotCheck) else interpret_erc(execution, project)


def parity_asked(project: KicadProject) -> Literal["ran", "not_asked"]:
    """Whether there is a schematic to compare with."""
    return "ran" if project.schematic else "not_asked"


async def execute_drc(
    cli: KicadCli, project: KicadProject, workspace: Path, *, timeout_seconds: float
) -> Execution | CouldNotCheck:
    """Run the design rule check and gather what it leaves."""
    if project.board is None:
        return CouldNotCheck(CouldNotReason.NO_BOARD, f"{project.id} has no board")
    options = ["--all-track-errors"]
    if parity_asked(project) == "ran":
        options.append("--schematic-parity")
    command = ["pcb", "drc", *_REPORT, *options]
    return await execute(cli, command, project.board, workspace, timeout_seconds=timeout_seconds)


async def execute_erc(
    cli: KicadCli, project: KicadProject, workspace: Path, *, timeout_seconds: float
) -> Execution | CouldNotCheck:
    """Run the electrical rule check and gather what it leaves."""
    if project.schematic is None:
        return CouldNotCheck(CouldNotReason.UNREADABLE_FILE, f"{project.id} has no schematic")
    return await execute(
        cli, ["sch", "erc", *_REPORT], project.schematic, workspace, timeout_seconds=timeout_seconds
    )


async def execute(
    cli: KicadCli, command: list[str], file: Path, workspace: Path, *, timeout_seconds: float
) -> Execution | CouldNotCheck:
    """Run kicad-cli on one file with a home, a configuration and a report of its own in the workspace."""
    name = command[1].upper()
    folder = Path(mkdtemp(prefix=f"{command[1]}-", dir=workspace))
    report = folder / "report.json"
    ended = await run_bounded(
        [str(cli.path), *command, "--output", str(report), str(file.absolute())],
        folder=folder,
        environment=private_environment(folder),
        timeout_seconds=timeout_seconds,
    )
    match ended:
        case NotStarted(detail):
            words = f"{name}: kicad-cli cannot be started: {clean(detail, 200)}"
            return CouldNotCheck(CouldNotReason.MISSING_TOOL, words)
        case TimedOut(after_seconds):
            words = f"{name}: kicad-cli was stopped after {after_seconds:.1f} s, its deadline"
            return CouldNotCheck(CouldNotReason.TIMED_OUT, words)
        case Finished(exit_code, stdout, stderr, _):
            content = _read_report(report)
            if isinstance(content, CouldNotCheck):
                return CouldNotCheck(content.reason, f"{name}: {content.detail}")
            return Execution(cli.version, exit_code, stdout, stderr, content)


def _read_report(path: Path) -> bytes | CouldNotCheck | None:
    """The report's bytes; a link or a device in its place is no report."""
    try:
        status = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return CouldNotCheck(CouldNotReason.BROKEN_REPORT, "the report is not a plain file")
    if status.st_size > REPORT_LIMIT_BYTES:
        words = f"the report is larger than {REPORT_LIMIT_BYTES} bytes"
        return CouldNotCheck(CouldNotReason.OVERSIZE_REPORT, words)
    return path.read_bytes()
