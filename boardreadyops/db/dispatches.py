"""Workflow dispatches and what GitHub says about workflow runs. An attempt gets one POST, ever."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement

AcknowledgeOutcome = Literal["applied", "existing", "ended", "conflict", "not_found"]
GiveUpOutcome = Literal["applied", "ended", "stale", "invalid", "not_found"]
ReconcileOutcome = Literal["applied", "retried", "waiting", "existing", "ended", "conflict", "not_found"]


@dataclass(frozen=True, slots=True)
class Begun:
    """Whether to send now (`begun`), to look it up (`started`), or neither; `started_at` is UTC."""

    outcome: Literal["begun", "started", "ended", "stale", "not_found"]
    release_run_id: UUID | None
    execution_attempt_id: UUID | None
    commit_sha: str | None
    started_at: datetime | None


async def begin_workflow_dispatch(connection: Connection, *, effect_id: int, generation: int) -> Begun:
    """Mark a dispatch as started; commit before sending. Again it answers `started`."""
    row = await connection.fetchrow(statement("begin_workflow_dispatch"), effect_id, generation)
    assert row is not None
    return Begun(**dict(row))


async def acknowledge_workflow_dispatch(
    connection: Connection, *, effect_id: int, workflow_run_id: int | None, workflow_run_attempt: int | None
) -> AcknowledgeOutcome:
    """Store what GitHub answered, whoever holds the row by now. Idempotent."""
    outcome: AcknowledgeOutcome = await connection.fetchval(
        statement("acknowledge_workflow_dispatch"), effect_id, workflow_run_id, workflow_run_attempt
    )
    return outcome


async def give_up_workflow_dispatch(
    connection: Connection, *, effect_id: int, generation: int, cause: Literal["refused", "silent"]
) -> GiveUpOutcome:
    """Fail the run (`refused`), or plan another attempt (`silent`)."""
    outcome: GiveUpOutcome = await connection.fetchval(
        statement("give_up_workflow_dispatch"), effect_id, generation, cause
    )
    return outcome


async def reconcile_workflow_run(
    connection: Connection,
    *,
    repository_id: int,
    execution_attempt_id: UUID | None,
    workflow_run_id: int,
    workflow_run_attempt: int,
    workflow_status: str,
    grace_seconds: int,
) -> ReconcileOutcome:
    """Take GitHub's word about a workflow run. Idempotent."""
    outcome: ReconcileOutcome = await connection.fetchval(
        statement("reconcile_workflow_run"),
        repository_id,
        execution_attempt_id,
        workflow_run_id,
        workflow_run_attempt,
        workflow_status,
        grace_seconds,
    )
    return outcome
