"""What the checks know of a result: exactly their parts of result v1."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from boardreadyops.kicad.findings import Finding
from boardreadyops.kicad.outcome import CouldNotReason

FINDINGS_LIMIT = 1_000  # findings in one result
SUMMARY_LIMIT_CHARACTERS = 4_000  # a result's summary
REASON_LIMIT_CHARACTERS = 500  # why a check did not run
DOCUMENT_LIMIT_BYTES = 900_000  # the whole result may have 1 MiB; artifacts and ids need the rest

CheckedState = Literal["passed", "failed", "not_run", "could_not_run"]
RunStatus = Literal["completed", "failed", "timed_out"]
Decision = Literal["pass", "fail", "error"]


@dataclass(frozen=True, slots=True)
class CheckState:
    """One check of one project. `could_not` is the class of a `could_not_run`, not part of result v1."""

    name: Literal["projects", "drc", "schematic_parity", "erc"]
    state: CheckedState
    project: str | None = None
    reason: str | None = None
    could_not: CouldNotReason | None = None

    def to_json(self) -> dict[str, object]:
        """The check as result v1 spells it."""
        document: dict[str, object] = {"name": self.name, "state": self.state}
        if self.project is not None:
            document["project"] = self.project
        if self.reason is not None:
            document["reason"] = self.reason[:REASON_LIMIT_CHARACTERS]
        return document


@dataclass(frozen=True, slots=True)
class CheckedProject:
    """A project that was looked at: its id and its project file."""

    id: str
    path: str


@dataclass(frozen=True, slots=True)
class BoardReport:
    """The answer about a checkout."""

    status: RunStatus
    decision: Decision
    summary: str
    projects: tuple[CheckedProject, ...]
    findings: tuple[Finding, ...]
    truncated: bool
    checks: tuple[CheckState, ...]
    tool_versions: Mapping[str, str]
    metrics: Mapping[str, float]

    def to_json(self) -> dict[str, object]:
        """Plain data, at most `DOCUMENT_LIMIT_BYTES` as JSON: the mildest findings go first."""
        findings = [finding.to_json() for finding in self.findings]
        sizes = [len(json.dumps(finding)) + 2 for finding in findings]
        document = self._frame()
        budget_bytes = DOCUMENT_LIMIT_BYTES - len(json.dumps(document))
        while sizes and sum(sizes) > budget_bytes:
            sizes.pop()
        document["findings"] = findings[: len(sizes)]
        document["truncated"] = self.truncated or len(sizes) < len(findings)
        return document

    def _frame(self) -> dict[str, object]:
        return {
            "status": self.status,
            "decision": self.decision,
            "summary": self.summary,
            "projects": [{"id": project.id, "path": project.path} for project in self.projects],
            "checks": [check.to_json() for check in self.checks],
            "tool_versions": dict(self.tool_versions),
            "metrics": dict(self.metrics),
            "findings": [],
            "truncated": False,
        }
