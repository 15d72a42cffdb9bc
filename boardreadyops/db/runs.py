"""Release runs: one thin def per guarded function. PostgreSQL decides; the outcome is a value, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement
from boardreadyops.domain.identity import Observation

TransitionOutcome = Literal["applied", "stale", "not_found", "invalid_transition"]
EnqueueOutcome = Literal["created", "existing", "superseded", "ignored", "moved_on", "disabled", "not_found"]
CloseOutcome = Literal["closed", "older", "ask", "moved_on", "not_found"]
CancelOutcome = Literal["applied", "existing", "terminal", "invalid_transition", "not_found"]
RetryOutcome = Literal["created", "existing", "stale", "superseded", "not_terminal", "not_found"]
ApproveOutcome = Literal["applied", "existing", "terminal", "not_found"]
PushOutcome = Literal["created", "existing", "closed", "ask", "moved_on", "disabled", "not_found"]


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of an open observation."""

    outcome: EnqueueOutcome
    release_run_id: UUID | None
    confirm_requested: bool


@dataclass(frozen=True, slots=True)
class Closed:
    """What became of a closed observation."""

    outcome: CloseOutcome
    cancelled_run_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """The outcome of a general transition, with the versions that hold now."""

    outcome: TransitionOutcome
    run_status: str | None
    run_version: int | None
    attempt_status: str | None
    attempt_version: int | None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The outcome of a cancellation, with the status and version that hold now."""

    outcome: CancelOutcome
    run_status: str | None
    run_version: int | None


@dataclass(frozen=True, slots=True)
class Retried:
    """The outcome of a retry, with the asking that holds now."""

    outcome: RetryOutcome
    retry_id: UUID | None
    retry_number: int | None


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a pushed branch, tag or merge-queue ref."""

    outcome: PushOutcome
    release_run_id: UUID | None


async def enqueue_release_run(
    connection: Connection, seen: Observation, *, confirmed_observation: int | None = None
) -> Enqueued:
    """Insert or return the run of an open ref's head. Idempotent; `confirmed_observation` marks GitHub's own answer."""
    row = await connection.fetchrow(
        statement("enqueue_release_run"),
        seen.installation_id,
        seen.repository_id,
        seen.ref,
        seen.pull_request_number,
        seen.head_sha,
        seen.base_ref,
        seen.base_sha,
        seen.draft,
        seen.trust_mode,
        seen.observed_at,
        confirmed_observation,
    )
    assert row is not None
    return Enqueued(**dict(row))


async def close_ref(
    connection: Connection, seen: Observation, *, confirmed_observation: int | None = None
) -> Closed:
    """Cancel the open runs of a closed ref. Idempotent."""
    row = await connection.fetchrow(
        statement("close_ref"),
        seen.installation_id,
        seen.repository_id,
        seen.ref,
        seen.pull_request_number,
        seen.head_sha,
        seen.base_ref,
        seen.base_sha,
        seen.draft,
        seen.observed_at,
        confirmed_observation,
    )
    assert row is not None
    return Closed(row["outcome"], tuple(row["cancelled_run_ids"]))


async def cancel_release_run(
    connection: Connection,
    *,
    installation_id: int,
    release_run_id: UUID,
    reason_code: str,
    cancelled_by: str | None,
) -> Cancelled:
    """Cancel one open run of this installation. Idempotent: again it answers `existing`."""
    row = await connection.fetchrow(
        statement("cancel_release_run"), installation_id, release_run_id, reason_code, cancelled_by
    )
    assert row is not None
    return Cancelled(**dict(row))


async def cancel_installation_runs(
    connection: Connection, *, installation_id: int, reason_code: str, limit: int
) -> int:
    """Cancel up to `limit` open runs of an installation; fewer than `limit` means that none is left."""
    count: int = await connection.fetchval(
        statement("cancel_installation_runs"), installation_id, reason_code, limit
    )
    return count


async def transition_release_run_state(
    connection: Connection,
    *,
    release_run_id: UUID,
    expected_run_status: str,
    expected_run_version: int,
    expected_execution_attempt_id: UUID | None,
    next_run_status: str | None,
    reason_code: str,
    expected_attempt_status: str | None = None,
    expected_attempt_version: int | None = None,
    next_attempt_status: str | None = None,
) -> Transition:
    """The general guarded transition. A repeat of an applied one answers `stale`."""
    row = await connection.fetchrow(
        statement("transition_release_run_state"),
        release_run_id,
        expected_run_status,
        expected_run_version,
        expected_execution_attempt_id,
        next_run_status,
        reason_code,
        expected_attempt_status,
        expected_attempt_version,
        next_attempt_status,
    )
    assert row is not None
    return Transition(**dict(row))


async def enqueue_pushed_ref(
    connection: Connection,
    *,
    installation_id: int,
    repository_id: int,
    ref: str,
    before: str,
    commit_sha: str | None,
    confirmed_observation: int | None = None,
) -> Pushed:
    """Take a push to a branch, tag or merge-queue ref; `commit_sha` None closes it. Idempotent."""
    row = await connection.fetchrow(
        statement("enqueue_pushed_ref"),
        installation_id,
        repository_id,
        ref,
        before,
        commit_sha,
        confirmed_observation,
    )
    assert row is not None
    return Pushed(**dict(row))


async def retry_release_run(
    connection: Connection, *, installation_id: int, release_run_id: UUID, expected_retry_number: int
) -> Retried:
    """Ask a terminal run anew. Idempotent by the expected number: again it answers `existing`."""
    row = await connection.fetchrow(
        statement("retry_release_run"), installation_id, release_run_id, expected_retry_number
    )
    assert row is not None
    return Retried(**dict(row))


async def approve_release_run(
    connection: Connection, *, installation_id: int, release_run_id: UUID, approved_by: str
) -> ApproveOutcome:
    """Let a fork's waiting run go ahead. Idempotent: again it answers `existing`."""
    outcome: ApproveOutcome = await connection.fetchval(
        statement("approve_release_run"), installation_id, release_run_id, approved_by
    )
    return outcome
