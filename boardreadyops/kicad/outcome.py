"""What asking KiCad can end in: a report, or a stated reason why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from boardreadyops.kicad.findings import Finding

CheckName = Literal["drc", "schematic_parity", "erc"]


class CouldNotReason(StrEnum):
    """Why a check gave no answer about the board. None of these is the board's failure."""

    MISSING_TOOL = "missing_tool"
    TOOL_TOO_OLD = "tool_too_old"
    UNREADABLE_FILE = "unreadable_file"
    FILE_NEWER_THAN_TOOL = "file_newer_than_tool"
    KILLED = "killed"
    TIMED_OUT = "timed_out"
    NO_REPORT = "no_report"
    BROKEN_REPORT = "broken_report"
    OVERSIZE_REPORT = "oversize_report"
    UNEXPECTED_EXIT = "unexpected_exit"
    PARITY_NOT_RUN = "parity_not_run"
    RULES_BROKEN = "rules_broken"
    PROJECT_FILE_BROKEN = "project_file_broken"
    CHECK_DISABLED = "check_disabled"
    NOT_RECORDED = "not_recorded"
    NO_PROJECT = "no_project"
    NO_BOARD = "no_board"
    TOO_MANY_PROJECTS = "too_many_projects"


@dataclass(frozen=True, slots=True)
class CouldNotCheck:
    """No answer about the board, and why, in one line for a hardware engineer."""

    reason: CouldNotReason
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """A complete report of one check; `parity` tells whether a DRC also compared the schematic."""

    check: Literal["drc", "erc"]
    tool_version: str
    findings: tuple[Finding, ...]
    parity: CouldNotCheck | Literal["ran", "not_asked"] = "not_asked"
