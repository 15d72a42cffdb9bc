"""One-shot effects: claimed by a relay, fenced by their generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.publications import FencedOutcome
from boardreadyops.db.statements import statement


@dataclass(frozen=True, slots=True)
class ClaimedEffect:
    """An effect that is due. `send_count` counts this claim too; a dispatch names its attempt, a cancellation
    its workflow run, a confirm neither.
    """

    effect_id: int
    generation: int
    kind: Literal["confirm_pull_request", "confirm_ref", "workflow_dispatch", "workflow_cancel"]
    installation_id: int
    repository_id: int
    repository_owner: str
    repository_name: str
    ref: str
    pull_request_number: int | None
    send_count: int
    release_run_id: UUID | None
    execution_attempt_id: UUID | None
    workflow_run_id: int | None


async def claim_outbox(
    connection: Connection, *, limit: int, lease_seconds: int
) -> tuple[ClaimedEffect, ...]:
    """Lease due effects for `lease_seconds`, oldest first."""
    rows = await connection.fetch(statement("claim_outbox"), limit, lease_seconds)
    return tuple(ClaimedEffect(**dict(row)) for row in rows)


async def settle_outbox(
    connection: Connection, *, effect_id: int, generation: int, outcome_code: str
) -> FencedOutcome:
    """The effect is done, with the code that says how."""
    outcome: FencedOutcome = await connection.fetchval(
        statement("settle_outbox"), effect_id, generation, outcome_code
    )
    return outcome


async def defer_outbox(
    connection: Connection,
    *,
    effect_id: int,
    generation: int,
    error: str,
    delay_seconds: int,
    sent: bool = True,
) -> FencedOutcome:
    """Try the effect again after `delay_seconds`; one not `sent` at all is not counted. `error` is cut at 500 characters and must hold no secret."""
    outcome: FencedOutcome = await connection.fetchval(
        statement("defer_outbox"), effect_id, generation, error, delay_seconds, sent
    )
    return outcome


async def ref_observation(connection: Connection, *, repository_id: int, ref: str) -> int | None:
    """The counter that a confirm captures before it asks GitHub; None for an unknown ref."""
    observation: int | None = await connection.fetchval(statement("ref_observation"), repository_id, ref)
    return observation
