"""Runner leases: claim, look up, heartbeat, give back. Seconds are counted at the database's clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement

LeaseState = Literal[
    "active",
    "expired",
    "revoked",
    "completed",
    "relinquished",
    "superseded",
    "cancelled",
    "timed_out",
    "failed",
]

RelinquishOutcome = Literal["accepted", "replayed", "stale", "invalid", "not_found"]


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """The outcome of a claim; a lease id comes with `created`, `existing` and `ended`."""

    outcome: Literal["created", "existing", "ended", "none", "revoked"]
    lease_id: UUID | None


@dataclass(frozen=True, slots=True)
class LeaseGrant:
    """What a runner needs to know to do the work of its lease."""

    lease_id: UUID
    release_run_id: UUID
    execution_attempt_id: UUID
    retry_id: UUID
    retry_number: int
    registration_id: UUID
    state: LeaseState
    lease_seconds: int
    installation_id: int
    repository_id: int
    repository_owner: str
    repository_name: str
    repository_private: bool
    ref: str
    pull_request_number: int | None
    commit_sha: str
    base_sha: str | None
    trust_mode: Literal["trusted", "fork"]
    expires_in_seconds: int
    maximum_expires_in_seconds: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The answer to a sign of life; `reason` tells why a lease that must stop has ended."""

    lease_state: LeaseState
    directive: Literal["continue", "stop"]
    reason: str | None
    expires_in_seconds: int
    maximum_expires_in_seconds: int


async def claim_runner_lease(
    connection: Connection, *, registration_id: UUID, request_id: UUID, capabilities: Sequence[str]
) -> LeaseClaim:
    """Claim the next run this runner may execute: installations take turns. Idempotent by `request_id`."""
    row = await connection.fetchrow(
        statement("claim_runner_lease"), registration_id, request_id, list(capabilities)
    )
    assert row is not None
    return LeaseClaim(**dict(row))


async def lease_grant(connection: Connection, lease_id: UUID) -> LeaseGrant | None:
    """A lease with its run and repository, active or ended; None for an unknown id."""
    row = await connection.fetchrow(statement("lease_grant"), lease_id)
    return None if row is None else LeaseGrant(**dict(row))


async def heartbeat_runner_lease(
    connection: Connection, *, lease_id: UUID, stage: str, progress: int, message: str
) -> Heartbeat | None:
    """Extend a lease and tell its stage; None for an unknown id. Idempotent; an earlier stage is ignored."""
    row = await connection.fetchrow(statement("heartbeat_runner_lease"), lease_id, stage, progress, message)
    return None if row is None else Heartbeat(**dict(row))


async def relinquish_runner_lease(
    connection: Connection, *, lease_id: UUID, reason: str, message: str, needs: Sequence[str]
) -> RelinquishOutcome:
    """Give a lease's run back to the queue. Idempotent: again it answers `replayed`."""
    outcome: RelinquishOutcome = await connection.fetchval(
        statement("relinquish_runner_lease"), lease_id, reason, message, list(needs)
    )
    return outcome
