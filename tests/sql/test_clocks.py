"""Whatever clock a caller has: no time runs backwards, and a later one is taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from boardreadyops.db.pool import Record
from tests.sql.conftest import NOON, World, observation
from tests.sql.test_reconcile_workflow_run import dispatched
from tests.sql.test_workflow_dispatch import claimed_dispatch

Call = Callable[[datetime], Awaitable[list[Record]]]
DIGEST = b"\1" * 32


async def cancel(world: World) -> Call:
    run_id = await world.opened()
    await world.claimed()
    return lambda now: world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "mira", now)


async def approve(world: World) -> Call:
    answer = await world.enqueue(replace(observation(), trust_mode="fork"))
    return lambda now: world.call("approve_release_run", 1, answer.release_run_id, "mira", now)


async def report(world: World) -> Call:
    await world.opened()
    grant = await world.claimed()
    key = (grant.release_run_id, grant.execution_attempt_id, grant.retry_id, grant.registration_id)
    return lambda now: world.call(
        "record_runner_result", *key, DIGEST, "completed", "pass", "", 0, 0, {}, now
    )


async def transition(world: World) -> Call:
    run_id = await world.opened()
    grant = await world.claimed()
    return lambda now: world.call(
        "transition_release_run_state",
        *(
            run_id,
            "running",
            1,
            grant.execution_attempt_id,
            "failed",
            "tidied",
            now,
            "in_progress",
            0,
            "failed",
        ),
    )


async def advance(world: World) -> Call:
    await world.opened()
    grant = await world.claimed()
    return lambda now: world.call("heartbeat_runner_lease", grant.lease_id, "reporting", 1, "", now)


async def relinquish(world: World) -> Call:
    await world.opened()
    grant = await world.claimed()
    return lambda now: world.call("relinquish_runner_lease", grant.lease_id, "shutdown", "", [], now)


async def expire(world: World) -> Call:
    await world.opened()
    await world.claimed()
    await world.owner.execute("UPDATE runner_leases SET (expires_at, next_check_at) = ($1, $1)", NOON)
    await world.owner.execute("UPDATE sweep_marks SET swept_at = 'infinity'")  # nobody was away
    return lambda now: world.call("expire_runner_leases", 10, None, now)


async def revoke(world: World) -> Call:
    await world.opened()
    grant = await world.claimed()
    return lambda now: world.call("revoke_runner", grant.registration_id, now)


async def retry(world: World) -> Call:
    run_id = await world.opened()
    await world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "mira")
    return lambda now: world.call("retry_release_run", 1, run_id, 0, now)


async def supersede(world: World) -> Call:
    await world.opened()
    await world.claimed()
    return lambda now: world.call("cancel_installation_runs", 1, "installation_suspended", 10, now)


async def check_run(world: World) -> Call:
    await world.execute_by("actions")
    await world.opened()
    (row,) = await world.call("claim_publications", 10, 30, 60)
    return lambda now: world.call("record_check_run", row["publication_id"], row["generation"], 5, now)


async def acknowledge(world: World) -> Call:
    dispatch = await claimed_dispatch(world)
    return lambda now: world.call("acknowledge_workflow_dispatch", dispatch.effect_id, 77, 1, now)


async def refuse(world: World) -> Call:
    dispatch = await claimed_dispatch(world)
    key = dispatch.effect_id, dispatch.generation
    return lambda now: world.call("give_up_workflow_dispatch", *key, "refused", now)


async def give_up(world: World) -> Call:
    dispatch = await claimed_dispatch(world)
    key = dispatch.effect_id, dispatch.generation
    return lambda now: world.call("give_up_workflow_dispatch", *key, "silent", now)


async def reconcile(world: World) -> Call:
    await dispatched(world)
    return lambda now: world.call("reconcile_workflow_run", 10, None, 77, 1, "in_progress", 60, now)


MOVES = (
    cancel,
    approve,
    report,
    transition,
    advance,
    relinquish,
    expire,
    revoke,
    retry,
    supersede,
    check_run,
    acknowledge,
    refuse,
    give_up,
    reconcile,
)
# These read the attempt's time before they take their own.
OF_ATTEMPTS = (
    report,
    advance,
    relinquish,
    expire,
    revoke,
    check_run,
    acknowledge,
    refuse,
    give_up,
    reconcile,
)


async def newest(world: World) -> datetime:
    """The latest time that the run or any attempt of it bears, or that a person did something to it."""
    moment: datetime = await world.owner.fetchval(
        """
        SELECT GREATEST(max(run.updated_at), max(run.approved_at), max(attempt.updated_at))
        FROM release_runs AS run LEFT JOIN release_run_attempts AS attempt ON attempt.release_run_id = run.id
        """
    )
    return moment


@pytest.mark.parametrize("move", MOVES)
async def test_a_clock_that_is_behind_moves_no_time_backwards(
    world: World, move: Callable[[World], Awaitable[Call]]
) -> None:
    call = await move(world)
    before = await newest(world)
    await call(NOON)
    assert await newest(world) == before


@pytest.mark.parametrize("move", MOVES)
async def test_a_clock_that_is_ahead_is_taken(world: World, move: Callable[[World], Awaitable[Call]]) -> None:
    call = await move(world)
    ahead = await newest(world) + timedelta(minutes=7)
    await call(ahead)
    assert await newest(world) == ahead


@pytest.mark.parametrize("move", OF_ATTEMPTS)
async def test_a_run_is_never_behind_its_attempt(
    world: World, move: Callable[[World], Awaitable[Call]]
) -> None:
    call = await move(world)
    ahead = await newest(world) + timedelta(minutes=7)
    await world.owner.execute("UPDATE release_run_attempts SET updated_at = $1", ahead)
    await call(ahead - timedelta(minutes=1))
    last = "SELECT occurred_at FROM release_run_transition_events ORDER BY id DESC LIMIT 1"
    assert await world.owner.fetchval(last) == ahead
