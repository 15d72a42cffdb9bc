"""From what kicad-cli left behind to a report, or to why there is none. Pure: recordings go this way too."""

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from boardreadyops.kicad.messages import clean
from boardreadyops.kicad.outcome import CouldNotCheck, CouldNotReason, Report
from boardreadyops.kicad.project import KicadProject
from boardreadyops.kicad.reports import ReadReport, ReportError, read_drc, read_erc

HEAD_BYTES = 4_096  # how far a file is read to learn which KiCad wrote it
EXIT_CLEAN, EXIT_VIOLATIONS, EXIT_UNREADABLE = 0, 5, 3
SHELL_SIGNAL_BASE = 128
_GENERATOR = re.compile(rb'\(generator_version\s+"(\d{1,4})\.(\d{1,4})')
_FORMAT = re.compile(rb"\(version\s+(\d{8})\)")
_NEWEST_FORMAT = {"kicad_pcb": {8: 20240108, 9: 20241229}, "kicad_sch": {8: 20231120, 9: 20250114}}
_FOUND = re.compile(r"Found (\d+) (violations|unconnected items|schematic parity issues)")
_FOUND_KEYS = {
    "violations": "violations",
    "unconnected items": "unconnected_items",
    "schematic parity issues": "schematic_parity",
}


@dataclass(frozen=True, slots=True)
class Execution:
    """What one run of kicad-cli left: exit code, output, and the report's bytes if it wrote one."""

    tool_version: str
    exit_code: int
    stdout: str
    stderr: str
    report: bytes | None


def interpret_drc(
    execution: Execution, project: KicadProject, *, parity: Literal["ran", "not_asked"]
) -> Report | CouldNotCheck:
    """Read a design rule check; `parity` is what was asked for, and is believed only with its proof."""
    read = _read(execution, project, "DRC", read_drc)
    if isinstance(read, CouldNotCheck):
        return read
    result: CouldNotCheck | Literal["ran", "not_asked"] = parity
    if parity == "ran" and not re.search(r"Found \d+ schematic parity issues", execution.stdout):
        said = clean(execution.stderr, 300)
        words = "kicad-cli did not compare the board with the schematic" + (f": {said}" if said else "")
        result = CouldNotCheck(CouldNotReason.PARITY_NOT_RUN, words)
    return Report("drc", read.version, read.findings, result)


def interpret_erc(execution: Execution, project: KicadProject) -> Report | CouldNotCheck:
    """Read an electrical rule check."""
    read = _read(execution, project, "ERC", read_erc)
    return read if isinstance(read, CouldNotCheck) else Report("erc", read.version, read.findings)


def _read(
    execution: Execution,
    project: KicadProject,
    name: str,
    reader: Callable[[bytes, KicadProject], ReadReport],
) -> ReadReport | CouldNotCheck:
    code = execution.exit_code
    killed = -code if code < 0 else code - SHELL_SIGNAL_BASE
    if code < 0 or (0 < killed < signal.NSIG and code != 255):
        hint = " (often: out of memory)" if killed == signal.SIGKILL else ""
        return CouldNotCheck(
            CouldNotReason.KILLED, f"{name}: kicad-cli was ended by {_signal_name(killed)}{hint}"
        )
    if code not in (EXIT_CLEAN, EXIT_VIOLATIONS):
        return _refused(execution, project, name)
    if not execution.report:
        words = f"{name}: kicad-cli ended with exit code {code} but wrote no report"
        return CouldNotCheck(CouldNotReason.NO_REPORT, words)
    try:
        read = reader(execution.report, project)
    except ReportError as error:
        return CouldNotCheck(CouldNotReason.BROKEN_REPORT, f"{name}: {clean(str(error), 300)}")
    contradiction = _contradiction(execution, read)
    if contradiction:
        return CouldNotCheck(CouldNotReason.BROKEN_REPORT, f"{name}: {contradiction}")
    return read


def _contradiction(execution: Execution, read: ReadReport) -> str | None:
    """A report is believed only when the exit code and the printed counts say the same."""
    total = sum(read.counts.values())
    if execution.exit_code == EXIT_VIOLATIONS and total == 0:
        return "the exit code says violations, the report holds none"
    if execution.exit_code == EXIT_CLEAN and any(finding.severity == "error" for finding in read.findings):
        return "the exit code says clean, the report holds errors"
    for number, words in _FOUND.findall(execution.stdout):
        if int(number) != read.counts.get(_FOUND_KEYS[words], 0):
            return f"kicad-cli printed {number} {words}, the report holds another number"
    return None


def _refused(execution: Execution, project: KicadProject, name: str) -> CouldNotCheck:
    for file in (project.board, project.schematic):
        if file is not None and (newer := _newer(_head(file), file.suffix[1:], execution.tool_version)):
            words = f"{name}: {project.relative(file)} was written by {newer}; this runner has {execution.tool_version}"
            return CouldNotCheck(CouldNotReason.FILE_NEWER_THAN_TOOL, words)
    said = clean(execution.stderr or execution.stdout, 300) or "it said nothing"
    if execution.exit_code == EXIT_UNREADABLE or "Expecting" in said or "Failed to load" in said:
        return CouldNotCheck(
            CouldNotReason.UNREADABLE_FILE, f"{name}: kicad-cli could not read the file: {said}"
        )
    words = f"{name}: kicad-cli ended with exit code {execution.exit_code}: {said}"
    return CouldNotCheck(CouldNotReason.UNEXPECTED_EXIT, words)


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(HEAD_BYTES)
    except OSError:
        return b""


def _newer(head: bytes, kind: str, tool_version: str) -> str | None:
    """Who wrote the file, if that is newer than the tool."""
    numbers = tool_version.split(".")
    tool = (int(numbers[0]), int(numbers[1]))
    generator = _GENERATOR.search(head)
    if generator and (int(generator[1]), int(generator[2])) > tool:
        return f"KiCad {int(generator[1])}.{int(generator[2])}"
    form = _FORMAT.search(head)
    newest = _NEWEST_FORMAT.get(kind, {}).get(tool[0])
    if form and newest and int(form[1]) > newest:
        return f"a newer KiCad (file format {int(form[1])})"
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
