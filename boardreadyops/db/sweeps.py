"""Sweeps: what time alone brings about. Each costs what is due, not what exists, and can be repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement

Sweep = Literal["deadlines", "leases"]
ExpiryOutcome = Literal["rearmed", "timed_out", "requeued", "exhausted", "closed"]
LevelOutcome = Literal["created", "existing", "disabled"]


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A run that a deadline ended, with the reason code of that deadline."""

    release_run_id: UUID
    reason_code: str


@dataclass(frozen=True, slots=True)
class Expiry:
    """What a look at an overdue lease led to."""

    lease_id: UUID
    outcome: ExpiryOutcome


@dataclass(frozen=True, slots=True)
class Level:
    """What the level rule did for one ref."""

    release_run_id: UUID | None
    outcome: LevelOutcome


async def sweep_deadlines(
    connection: Connection, *, limit: int, only_run_id: UUID | None = None
) -> tuple[TimedOut, ...]:
    """End up to `limit` runs whose clock ran out."""
    rows = await connection.fetch(statement("sweep_deadlines"), limit, only_run_id)
    return tuple(TimedOut(**dict(row)) for row in rows)


async def expire_runner_leases(
    connection: Connection, *, limit: int, only_lease_id: UUID | None = None
) -> tuple[Expiry, ...]:
    """Look at up to `limit` leases that are due: take back those whose runner fell silent."""
    rows = await connection.fetch(statement("expire_runner_leases"), limit, only_lease_id)
    return tuple(Expiry(**dict(row)) for row in rows)


async def sweep_levels(connection: Connection, *, limit: int, skip: int = 0) -> tuple[Level, ...]:
    """Apply the level rule to one ref: of those due, after the first `skip`, the first of `limit` that nobody holds."""
    rows = await connection.fetch(statement("sweep_levels"), limit, skip)
    return tuple(Level(**dict(row)) for row in rows)


async def resume_installation(connection: Connection, *, installation_id: int, limit: int) -> int:
    """A tenant can be served again: have up to `limit` of its refs looked at; fewer means that none is left."""
    count: int = await connection.fetchval(statement("resume_installation"), installation_id, limit)
    return count


async def list_due(connection: Connection, sweep: Sweep, *, limit: int) -> tuple[UUID, ...]:
    """The ids a sweep would take now, to find the one row that stops a batch."""
    rows = await connection.fetch(statement("list_due"), sweep, limit)
    return tuple(row[0] for row in rows)
