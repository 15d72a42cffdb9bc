"""Result v1: what a runner concluded about one commit."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from boardreadyops.runner.wire import Id, Message, Name, Text

MAX_RESULT_BYTES = 1024 * 1024
MAX_SUMMARY_CHARACTERS = 4_000
MAX_FINDINGS = 1_000
MAX_FINDING_CHARACTERS = 2_000  # a finding's message
MAX_PATH_CHARACTERS = 1_024  # paths, sheets and project ids
MAX_RULE_CHARACTERS = 200  # rules, fingerprints, item ids, layers
MAX_REASON_CHARACTERS = 2_000
MAX_ITEMS = 100  # item ids of one finding
MAX_PROJECTS = 1_000
MAX_CHECKS = 4_000
MAX_ARTIFACTS = 200
MAX_TOOLS = 50
MAX_METRICS = 200
MAX_LINE = 2**31 - 1
MAX_COUNT = 2**31 - 1
MAX_ARTIFACT_SIZE_BYTES = 2**63 - 1

Short = Annotated[Text, StringConstraints(min_length=1, max_length=MAX_RULE_CHARACTERS)]
Place = Annotated[Text, StringConstraints(max_length=MAX_PATH_CHARACTERS)]
ResultStatus = Literal["completed", "failed", "timed_out"]
Decision = Literal["pass", "fail", "error"]
LEGAL_RESULTS: frozenset[tuple[ResultStatus, Decision]] = frozenset(
    {("completed", "pass"), ("completed", "fail"), ("failed", "error"), ("timed_out", "error")}
)


class Project(Message):
    """A KiCad project that was looked at; `path` is relative to the repository."""

    id: Place
    path: Place


class FindingPosition(Message):
    """A place on the board or sheet in millimetres, Y down."""

    x_mm: float
    y_mm: float
    layer: Short | None = None


class Finding(Message):
    """One thing a check found; `error` blocks."""

    rule: Short
    severity: Literal["error", "warning", "info"]
    message: Annotated[Text, StringConstraints(max_length=MAX_FINDING_CHARACTERS)]
    fingerprint: Short
    project: Place | None = None
    path: Place | None = None
    line: Annotated[int, Field(ge=1, le=MAX_LINE)] | None = None
    sheet: Place | None = None
    position: FindingPosition | None = None
    item_uuids: Annotated[list[Short], Field(max_length=MAX_ITEMS)] = Field(default_factory=list)


class Check(Message):
    """Whether one check ran and how it ended."""

    name: Name
    project: Place | None = None
    state: Literal["passed", "failed", "not_run", "could_not_run"]
    reason: Annotated[Text, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class Artifact(Message):
    """A file that was uploaded before the result."""

    name: Short
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=0, le=MAX_ARTIFACT_SIZE_BYTES)]
    role: Name


class ResultV1(Message):
    """The conclusion of one attempt. `schema` on the wire is `schema_version` here."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    release_run_id: Id
    execution_attempt_id: Id
    retry_id: Id
    status: ResultStatus
    decision: Decision
    summary: Annotated[Text, StringConstraints(max_length=MAX_SUMMARY_CHARACTERS)]
    projects: Annotated[list[Project], Field(max_length=MAX_PROJECTS)] = Field(default_factory=list)
    findings: Annotated[list[Finding], Field(max_length=MAX_FINDINGS)] = Field(default_factory=list)
    truncated: bool = False
    checks: Annotated[list[Check], Field(max_length=MAX_CHECKS)] = Field(default_factory=list)
    artifacts: Annotated[list[Artifact], Field(max_length=MAX_ARTIFACTS)] = Field(default_factory=list)
    tool_versions: Annotated[dict[Name, Short], Field(max_length=MAX_TOOLS)] = Field(default_factory=dict)
    metrics: Annotated[dict[Name, float], Field(max_length=MAX_METRICS)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _status_and_decision_go_together(self) -> Self:
        if (self.status, self.decision) not in LEGAL_RESULTS:
            raise ValueError(f"status {self.status} does not go with decision {self.decision}")
        return self

    def to_bytes(self) -> bytes:
        """The result as JSON in UTF-8, without what is not known."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    @property
    def error_count(self) -> int:
        """How many findings block; of a truncated list at least those listed, else what the runner counted."""
        return self._count("error")

    @property
    def warning_count(self) -> int:
        """How many findings warn; counted like `error_count`."""
        return self._count("warning")

    def details(self) -> dict[str, object]:
        """What is kept beside status, decision and summary; parts that were not given are left out."""
        kept = {"projects", "findings", "truncated", "checks", "artifacts", "tool_versions", "metrics"}
        return self.model_dump(mode="json", include=kept, exclude_none=True)

    def _count(self, severity: Literal["error", "warning"]) -> int:
        listed = sum(finding.severity == severity for finding in self.findings)
        told = self.metrics.get(f"findings_{severity}", 0.0) if self.truncated else 0.0
        return max(listed, int(min(max(told, 0.0), MAX_COUNT)))
