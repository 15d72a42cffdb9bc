"""A lease is bound to run, attempt and pointer as they were: where they drifted it may end, and moves nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from boardreadyops.db.leases import LeaseGrant
from boardreadyops.db.runners import revoke_runner
from tests.sql.conftest import World
from tests.sql.test_expire_runner_leases import lost
from tests.sql.test_runner_leases import beat

DRIFTS = {
    "run status": "UPDATE runner_leases SET expected_run_status = 'queued'",
    "run version": "UPDATE runner_leases SET expected_run_version = 9",
    "attempt status": "UPDATE runner_leases SET expected_attempt_status = 'reporting'",
    "attempt version": "UPDATE runner_leases SET expected_attempt_version = 9",
    "no pointer": "UPDATE release_runs SET execution_attempt_id = NULL",
    "another pointer": "UPDATE release_runs SET execution_attempt_id = gen_random_uuid()",
}


async def expires(world: World, grant: LeaseGrant) -> str:
    return await lost(world, grant)


async def is_relinquished(world: World, grant: LeaseGrant) -> str:
    return await world.answer("relinquish_runner_lease", grant.lease_id, "job_error", "", [])


async def is_revoked(world: World, grant: LeaseGrant) -> str:
    async with world.app.transaction() as connection:
        return await revoke_runner(connection, registration_id=grant.registration_id)


async def tells_a_later_stage(world: World, grant: LeaseGrant) -> str:
    answer = await beat(world, grant.lease_id, "reporting")
    return answer.directive


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize(
    ("act", "outcome", "state"),
    [
        (expires, "closed", "expired"),
        (is_relinquished, "stale", "active"),
        (is_revoked, "applied", "revoked"),
        (tells_a_later_stage, "continue", "active"),
    ],
)
async def test_drift_from_the_snapshot_fails_closed(
    world: World, act: Callable[[World, LeaseGrant], Awaitable[str]], outcome: str, state: str, drift: str
) -> None:
    await world.opened()
    grant = await world.claimed()
    bookkeeping = ("runner_leases", "runner_registrations", "sweep_marks")
    truth = await world.everything()
    await world.owner.execute("ALTER TABLE release_runs DISABLE TRIGGER ALL")
    await world.owner.execute(DRIFTS[drift])
    before = await world.everything(but=bookkeeping)
    assert await act(world, grant) == outcome
    assert await world.everything(but=bookkeeping) == before
    (lease,) = await world.owner.fetch("SELECT state, stage FROM runner_leases")
    assert tuple(lease) == (state, "claimed")
    await undo(world, grant)
    assert await world.everything(but=bookkeeping) == {
        table: rows for table, rows in truth.items() if table not in bookkeeping
    }


async def undo(world: World, grant: LeaseGrant) -> None:
    """Every test's world must hold together at its end."""
    await world.owner.execute("UPDATE release_runs SET execution_attempt_id = $1", grant.execution_attempt_id)
    await world.owner.execute(
        "UPDATE runner_leases SET (expected_run_status, expected_run_version, expected_attempt_status,"
        " expected_attempt_version) = ('running', 1, 'in_progress', 0)"
    )
