"""From findings and check states to one decision, and the words for it. Pure and total."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from boardreadyops.checks.report import (
    SUMMARY_LIMIT_CHARACTERS,
    CheckState,
    Decision,
    RunStatus,
)
from boardreadyops.kicad.findings import Finding
from boardreadyops.kicad.outcome import CouldNotReason

FINDINGS_NAMED = 5
NAMES = {"projects": "projects", "drc": "DRC", "schematic_parity": "Schematic parity", "erc": "ERC"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A legal pair of status and decision with its summary, whose first line is the answer."""

    status: RunStatus
    decision: Decision
    summary: str


def decide(findings: Sequence[Finding], checks: Sequence[CheckState], note: str = "") -> Verdict:
    """An error finding blocks for certain; a check that could not run never becomes a pass."""
    blocking = [finding for finding in findings if finding.severity == "error"]
    could_not = [check for check in checks if check.state == "could_not_run"]
    if blocking:
        status: RunStatus = "completed"
        decision: Decision = "fail"
    elif any(check.could_not == CouldNotReason.TIMED_OUT for check in could_not):
        status, decision = "timed_out", "error"
    elif could_not or not any(check.state in {"passed", "failed"} for check in checks):
        status, decision = "failed", "error"
    else:
        status, decision = "completed", "pass"
    lines = [_headline(decision, findings, could_not), *_named(blocking), *_told(findings, checks)]
    if note:
        lines.append(f"These results were {note}.")
    return Verdict(status, decision, _bounded(lines))


def _headline(decision: Decision, findings: Sequence[Finding], could_not: Sequence[CheckState]) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = sum(finding.severity == "warning" for finding in findings)
    match decision:
        case "pass":
            return "Ready to fabricate" + (f" with {counted(warnings, 'warning')}" if warnings else "")
        case "fail":
            also = f", {counted(warnings, 'warning')}" if warnings else ""
            return f"Not ready: {counted(errors, 'blocking finding')}{also}"
        case "error":
            first = could_not[0].reason if could_not else "no check ran"
            return f"Could not check: {first}"
        case _:
            assert_never(decision)


def _named(blocking: Sequence[Finding]) -> list[str]:
    lines = [f"- {finding.message}" for finding in blocking[:FINDINGS_NAMED]]
    if len(blocking) > FINDINGS_NAMED:
        lines.append(f"- and {len(blocking) - FINDINGS_NAMED} more")
    return lines


def _told(findings: Sequence[Finding], checks: Sequence[CheckState]) -> list[str]:
    """One line a check: a number of violations is claimed only for checks that ran."""
    lines = []
    for check in checks:
        where = f" of {check.project}" if check.project else ""
        match check.state:
            case "passed" | "failed":
                own = [f for f in findings if f.check == check.name and f.project == check.project]
                errors = sum(finding.severity == "error" for finding in own)
                warnings = sum(finding.severity == "warning" for finding in own)
                text = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
            case "not_run":
                text = f"not run: {check.reason}"
            case "could_not_run":
                text = f"could not run: {check.reason}"
            case _:
                assert_never(check.state)
        lines.append(f"{NAMES[check.name]}{where}: {text}")
    return lines


def counted(number: int, noun: str) -> str:
    """`1 warning`, `2 warnings`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _bounded(lines: Sequence[str]) -> str:
    text = ""
    for line in lines:
        if len(text) + len(line) + 2 > SUMMARY_LIMIT_CHARACTERS:
            return text + "…" if text else line[: SUMMARY_LIMIT_CHARACTERS - 1] + "…"
        text += f"{line}\n"
    return text.rstrip("\n")
