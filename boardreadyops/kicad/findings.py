"""A finding: one thing KiCad says about a board, in the words of result v1."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from json import dumps
from typing import Literal

MESSAGE_LIMIT_CHARACTERS = 2_000  # a finding's message, as result v1 says
Severity = Literal["error", "warning", "info"]
SEVERITY_RANK: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Position:
    """A place on the board or sheet, millimetres from the drawing's origin, Y down."""

    x_mm: float
    y_mm: float
    layer: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. `check` says which check found it and is not part of result v1."""

    check: Literal["drc", "schematic_parity", "erc"]
    rule: str
    severity: Severity
    message: str
    fingerprint: str
    project: str
    path: str
    sheet: str | None = None
    position: Position | None = None
    item_uuids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The finding as result v1 spells it; unknown parts are left out."""
        document: dict[str, object] = {
            "rule": self.rule,
            "severity": self.severity,
            "message": self.message,
            "fingerprint": self.fingerprint,
            "project": self.project,
            "path": self.path,
            "item_uuids": list(self.item_uuids),
        }
        if self.sheet is not None:
            document["sheet"] = self.sheet
        if self.position is not None:
            place = self.position
            document["position"] = {"x_mm": place.x_mm, "y_mm": place.y_mm, "layer": place.layer}
        return document


def fingerprint(rule: str, project: str, marks: Iterable[str]) -> str:
    """Name a finding so that two runs, machines and dates agree; `marks` tell the items, in any order."""
    return sha256(dumps([rule, project, sorted(marks)]).encode()).hexdigest()


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by place, with equal fingerprints told apart by their order."""
    ordered = sorted(findings, key=_rank)
    seen: dict[str, int] = {}
    distinct = []
    for finding in ordered:
        count = seen.get(finding.fingerprint, 0)
        seen[finding.fingerprint] = count + 1
        mark = finding.fingerprint if count == 0 else fingerprint(finding.fingerprint, "", [str(count)])
        distinct.append(replace(finding, fingerprint=mark))
    return tuple(distinct)


def _rank(finding: Finding) -> tuple[int, str, str, str, float, float, str]:
    place = finding.position or Position(0, 0)
    severity = SEVERITY_RANK[finding.severity]
    return severity, finding.project, finding.check, finding.rule, place.x_mm, place.y_mm, finding.message
