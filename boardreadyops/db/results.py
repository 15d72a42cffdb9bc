"""Runner results: accepted once per attempt; late and conflicting ones are kept and change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResult:
    """A result as a runner sent it; `body_sha256` is over the raw bytes of the request."""

    release_run_id: UUID
    execution_attempt_id: UUID
    retry_id: UUID
    registration_id: UUID | None
    body_sha256: bytes
    status: str
    decision: str
    summary: str
    error_count: int
    warning_count: int
    details: dict[str, object]


@dataclass(frozen=True, slots=True)
class ResultAnswer:
    """The outcome; an audit id comes with `late` and `conflict`."""

    outcome: Literal["accepted", "replayed", "late", "conflict", "not_found", "invalid_transition"]
    audit_id: int | None


async def record_runner_result(connection: Connection, result: ReportedResult) -> ResultAnswer:
    """Take a result. Idempotent: the same bytes again answer `replayed`, or the same audit id."""
    row = await connection.fetchrow(
        statement("record_runner_result"),
        result.release_run_id,
        result.execution_attempt_id,
        result.retry_id,
        result.registration_id,
        result.body_sha256,
        result.status,
        result.decision,
        result.summary,
        result.error_count,
        result.warning_count,
        result.details,
    )
    assert row is not None
    return ResultAnswer(**dict(row))
