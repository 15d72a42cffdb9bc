"""Check Run publications: claimed by a relay, fenced by their generation, acknowledged by sequence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement
from boardreadyops.domain.effects import ErrorClass

# Texts and nulls, but for `needs`, a list of texts; its keys are in boardreadyops/domain/verdict.py.
Payload = Mapping[str, Any]
FencedOutcome = Literal["applied", "stale", "not_found", "invalid"]


@dataclass(frozen=True, slots=True)
class ClaimedPublication:
    """A Check Run with something to tell. `doubtful`: an earlier request may have been executed, so read first."""

    publication_id: int
    generation: int
    seq: int
    doubtful: bool
    check_run_id: int | None
    installation_id: int
    repository_id: int
    repository_owner: str
    repository_name: str
    release_run_id: UUID
    retry_number: int
    ordinal: int
    commit_sha: str
    check_name: str
    external_id: str
    payload: Payload
    send_count: int


@dataclass(frozen=True, slots=True)
class PublicationDetails:
    """What its words need beside the payload; all None when there is no result or successor."""

    summary: str | None
    error_count: int | None
    warning_count: int | None
    details: Mapping[str, object] | None
    successor_sha: str | None


@dataclass(frozen=True, slots=True)
class DueVerification:
    """A Check Run that is due to be read back, with what it should tell."""

    publication_id: int
    seq: int
    check_run_id: int | None
    installation_id: int
    repository_owner: str
    repository_name: str
    external_id: str
    release_run_id: UUID
    ordinal: int
    payload: Payload


async def claim_publications(
    connection: Connection, *, limit: int, lease_seconds: int, doubt_seconds: int
) -> tuple[ClaimedPublication, ...]:
    """Lease due publications for `lease_seconds`; a claim never waits for a lifecycle change."""
    rows = await connection.fetch(statement("claim_publications"), limit, lease_seconds, doubt_seconds)
    return tuple(ClaimedPublication(**dict(row)) for row in rows)


async def publication_details(connection: Connection, payload: Payload) -> PublicationDetails:
    """The result and the successor that a frozen payload names."""
    row = await connection.fetchrow(
        statement("publication_details"), payload["execution_attempt_id"], payload["superseded_by"]
    )
    assert row is not None
    return PublicationDetails(**dict(row))


async def record_check_run(
    connection: Connection, *, publication_id: int, generation: int, check_run_id: int
) -> FencedOutcome:
    """Store the id GitHub gave. Idempotent for the same id."""
    outcome: FencedOutcome = await connection.fetchval(
        statement("record_check_run"), publication_id, generation, check_run_id
    )
    return outcome


async def acknowledge_publication(
    connection: Connection, *, publication_id: int, generation: int, seq: int
) -> FencedOutcome:
    """GitHub holds sequence `seq`; the row is available again if more is desired by now."""
    outcome: FencedOutcome = await connection.fetchval(
        statement("acknowledge_publication"), publication_id, generation, seq
    )
    return outcome


async def defer_publication(
    connection: Connection,
    *,
    publication_id: int,
    generation: int,
    error_class: ErrorClass,
    error: str,
    delay_seconds: int,
    sent: bool = True,
) -> FencedOutcome:
    """Give a row back after a failed send, or before any (`sent` false: not counted); `error` is cut at 500 characters and must hold no secret."""
    outcome: FencedOutcome = await connection.fetchval(
        statement("defer_publication"), publication_id, generation, error_class, error, delay_seconds, sent
    )
    return outcome


async def claim_verifications(
    connection: Connection, *, limit: int, lease_seconds: int
) -> tuple[DueVerification, ...]:
    """Check Runs to read back, each put off by `lease_seconds` so that one relay looks at a time."""
    rows = await connection.fetch(statement("claim_verifications"), limit, lease_seconds)
    return tuple(DueVerification(**dict(row)) for row in rows)


async def record_verification(
    connection: Connection,
    *,
    publication_id: int,
    seq: int,
    finding: Literal["same", "different", "frozen", "gone"],
) -> FencedOutcome:
    """What a read-back found; `stale` when there is more to tell since."""
    outcome: FencedOutcome = await connection.fetchval(
        statement("record_verification"), publication_id, seq, finding
    )
    return outcome
