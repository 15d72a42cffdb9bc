"""Deadlines: each clock ends its runs with its own reason, and costs what is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.sweeps import TimedOut, list_due, sweep_deadlines
from tests.sql.conftest import World, observation

CLOCKS = {"approval": 604800, "queue": 21600, "start": 1800, "run": 5400}


async def sweep(world: World, now: datetime, *, limit: int = 10, only: UUID | None = None) -> list[TimedOut]:
    return [TimedOut(*row) for row in await world.call("sweep_deadlines", limit, only, now)]


async def run_on_clock(world: World, clock: str) -> UUID:
    """A run that stands where this clock ticks."""
    if clock == "start":
        await world.execute_by("actions")
    enqueued = await world.enqueue(
        replace(observation(), trust_mode="fork" if clock == "approval" else "trusted")
    )
    assert enqueued.release_run_id is not None
    if clock == "run":
        await world.claimed()
    if clock == "start":
        await world.published()
        (effect,) = await world.effects()
        assert await world.answer("acknowledge_workflow_dispatch", effect.effect_id, 77, 1) == "applied"
    return enqueued.release_run_id


@pytest.mark.parametrize("clock", CLOCKS)
async def test_each_clock_ends_its_run_with_its_own_reason(world: World, clock: str) -> None:
    run_id = await run_on_clock(world, clock)
    before, seq = await world.run(run_id), (await world.publication(run_id))["desired_seq"]
    assert await sweep(world, before["due_at"] - timedelta(microseconds=1)) == []
    assert await world.run(run_id) == before
    reason = f"{clock}_deadline_exceeded"
    assert await sweep(world, before["due_at"]) == [TimedOut(run_id, reason)]
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"], run["version"], run["due_at"]) == (
        "timed_out",
        reason,
        before["version"] + 1,
        None,
    )
    assert run["finished_at"] == before["due_at"]
    assert (await world.history(run_id))[-1] == ("release_run", before["status"], "timed_out", reason)
    told = await world.publication(run_id)
    assert (told["payload"]["status"], told["payload"]["reason_code"]) == ("timed_out", reason)
    assert told["desired_seq"] == seq + 1


@pytest.mark.parametrize("whose", ["deployment", "installation"])
@pytest.mark.parametrize("clock", CLOCKS)
async def test_an_installations_clock_goes_before_the_deployments(
    world: World, clock: str, whose: str
) -> None:
    await world.owner.execute(f"UPDATE deployment_settings SET {clock}_timeout_seconds = 1000")
    if whose == "installation":
        await world.owner.execute(f"UPDATE installations SET {clock}_timeout_seconds = 2000")
    run = await world.run(await run_on_clock(world, clock))
    expected = timedelta(seconds=2000 if whose == "installation" else 1000)
    assert run["due_at"] - run["updated_at"] == expected


@pytest.mark.parametrize(("clock", "inferred"), [("queue", False), ("start", True), ("run", True)])
async def test_what_start_and_run_deadlines_conclude_is_inferred(
    world: World, clock: str, inferred: bool
) -> None:
    if clock == "queue":
        await world.execute_by("actions")
    run_id = await run_on_clock(world, clock)
    run = await world.run(run_id)
    await sweep(world, run["due_at"])
    attempt = await world.attempt(run["execution_attempt_id"])
    assert (attempt["status"], attempt["inferred"]) == ("timed_out", inferred)


async def test_the_lease_ends_with_its_run(world: World) -> None:
    run_id = await run_on_clock(world, "run")
    await sweep(world, (await world.run(run_id))["due_at"])
    lease = await world.owner.fetchrow("SELECT state, ended_at FROM runner_leases")
    assert lease is not None
    assert (lease["state"], lease["ended_at"]) == ("timed_out", (await world.run(run_id))["finished_at"])


async def test_a_workflow_whose_run_timed_out_is_cancelled_on_github(world: World) -> None:
    run_id = await run_on_clock(world, "start")
    await sweep(world, (await world.run(run_id))["due_at"])
    (effect,) = await world.owed("workflow_cancel")
    assert (effect["workflow_run_id"], effect["release_run_id"]) == (77, run_id)


async def test_nothing_due_writes_nothing_and_a_second_sweep_neither(world: World) -> None:
    run_id = await world.opened()
    due_at = (await world.run(run_id))["due_at"]
    before = await world.everything()
    async with world.app.transaction() as connection:
        assert await sweep_deadlines(connection, limit=10) == ()
    assert await world.everything() == before
    await sweep(world, due_at)
    before = await world.everything()
    assert await sweep(world, due_at + timedelta(days=1)) == []
    assert await world.everything() == before


async def test_a_batch_takes_the_oldest_first_and_no_more_than_its_limit(world: World) -> None:
    runs = [await world.opened(number=number) for number in range(1, 4)]
    due_at = (await world.run(runs[2]))["due_at"]
    assert [timed_out.release_run_id for timed_out in await sweep(world, due_at, limit=2)] == runs[:2]
    assert [timed_out.release_run_id for timed_out in await sweep(world, due_at, limit=2)] == runs[2:]


async def test_one_run_alone_can_be_swept(world: World) -> None:
    first, second = await world.opened(number=1), await world.opened(number=2)
    due_at = (await world.run(second))["due_at"]
    assert await sweep(world, due_at, only=uuid4()) == []
    assert [row.release_run_id for row in await sweep(world, due_at, only=second)] == [second]
    assert (await world.run(first))["status"] == "queued"


async def test_a_run_that_another_transaction_holds_is_left_for_the_next_sweep(world: World) -> None:
    held, free = await world.opened(number=1), await world.opened(number=2)
    due_at = (await world.run(free))["due_at"]
    async with world.owner.transaction():
        await world.owner.execute("SELECT FROM release_runs WHERE id = $1 FOR NO KEY UPDATE", held)
        assert [row.release_run_id for row in await sweep(world, due_at)] == [free]
    assert [row.release_run_id for row in await sweep(world, due_at)] == [held]


async def test_what_is_due_can_be_listed_oldest_first(world: World) -> None:
    runs = [await world.opened(number=number) for number in range(1, 4)]
    due_at = (await world.run(runs[1]))["due_at"]
    assert [row[0] for row in await world.call("list_due", "deadlines", 10, due_at)] == runs[:2]
    assert [row[0] for row in await world.call("list_due", "deadlines", 1, due_at)] == runs[:1]
    assert await world.call("list_due", "anything else", 10, due_at) == []
    lease_id = (await world.claimed()).lease_id
    async with world.app.connection() as connection:
        assert await list_due(connection, "deadlines", limit=10) == ()
        assert await list_due(connection, "leases", limit=10) == ()
    await world.owner.execute("UPDATE runner_leases SET next_check_at = claimed_at")
    async with world.app.connection() as connection:
        assert await list_due(connection, "leases", limit=10) == (lease_id,)
    other, ended = await world.claimed(), await world.claimed()
    await world.report(ended)
    now = await world.owner.fetchval("SELECT max(next_check_at) FROM runner_leases")
    assert [row[0] for row in await world.call("list_due", "leases", 1, now)] == [lease_id]
    listed = await world.call("list_due", "leases", 10, now)
    assert [row[0] for row in listed] == [lease_id, other.lease_id]
    due_at = await world.owner.fetchval(
        "SELECT next_check_at FROM runner_leases WHERE id = $1", other.lease_id
    )
    assert [row[0] for row in await world.call("list_due", "leases", 10, due_at)] == [
        lease_id,
        other.lease_id,
    ]
    await world.owner.execute("UPDATE runner_leases SET next_check_at = expires_at")
