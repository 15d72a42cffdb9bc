"""The mark that keeps claims fast while an old transaction keeps dead rows: it may delay a run, never lose one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.leases import LeaseClaim, claim_runner_lease
from boardreadyops.db.pool import Connection, connect
from tests.conftest import DatabaseUrls
from tests.sql.conftest import World
from tests.sql.test_neighbours import found

LONG_WALK = 100


async def _claim(world: World, *, capabilities: tuple[str, ...] = ()) -> LeaseClaim:
    runner = await world.runner(installation_id=1, name=f"runner-{uuid4()}")
    async with world.app.transaction() as connection:
        return await claim_runner_lease(
            connection, registration_id=runner, request_id=uuid4(), capabilities=capabilities
        )


async def mark(world: World, installation_id: int, *, ahead: str, rescan_in: str) -> None:
    """Where the installation's waiting runs are said to begin, by intervals from now."""
    await world.owner.execute(
        "INSERT INTO claim_marks VALUES ($1, now() + $2::text::interval, now() + $3::text::interval)",
        installation_id,
        ahead,
        rescan_in,
    )


@asynccontextmanager
async def beside_an_old_transaction(world: World, urls: DatabaseUrls, runs: int) -> AsyncIterator[UUID]:
    """Runs that wait for an hour, a snapshot that keeps every dead entry, and a runner to claim them."""
    for number in range(1, runs + 1):
        await world.opened(number=number)
    await world.owner.execute("UPDATE release_runs SET queued_at = queued_at - interval '1 hour'")
    # A table nobody analyzed may be read by any of its indexes.
    await world.owner.execute("ANALYZE release_runs")
    runner = await world.runner(installation_id=1)
    holder = await connect(urls.owner, application_name="tests holder")
    try:
        async with holder.transaction(isolation="repeatable_read"):
            await holder.fetch("SELECT 1")
            yield runner
    finally:
        await holder.close()


async def _claim_for(connection: Connection, runner: UUID) -> LeaseClaim:
    claim = await claim_runner_lease(connection, registration_id=runner, request_id=uuid4(), capabilities=())
    assert claim.outcome == "created"
    return claim


async def test_claimsbeside_an_old_transaction_leave_a_mark_where_the_waiting_runs_begin(
    world: World, database_urls: DatabaseUrls
) -> None:
    async with beside_an_old_transaction(world, database_urls, LONG_WALK + 5) as runner:
        for _ in range(LONG_WALK + 4):
            async with world.app.transaction() as connection:
                await _claim_for(connection, runner)
        assert await world.count("claim_marks") == 1
        below = await world.owner.fetchval(
            "SELECT count(*) FROM release_runs JOIN claim_marks AS mark USING (installation_id)"
            " WHERE release_runs.status = 'queued' AND release_runs.queued_at < mark.queued_at"
        )
        assert below == 0
        assert (await _claim(world)).outcome == "created"
        assert (await _claim(world)).outcome == "none"


async def test_a_run_whose_claim_is_undone_lies_above_the_mark(
    world: World, database_urls: DatabaseUrls
) -> None:
    async with beside_an_old_transaction(world, database_urls, LONG_WALK + 5) as runner:
        other = await world.runner(installation_id=1, name="undone")
        undone = await connect(database_urls.owner, application_name="tests undone")
        try:
            transaction = undone.transaction()
            await transaction.start()
            await _claim_for(undone, other)
            oldest = await undone.fetchval("SELECT release_run_id FROM runner_leases")
            for _ in range(LONG_WALK):
                async with world.app.transaction() as connection:
                    await _claim_for(connection, runner)
            assert await world.count("claim_marks") == 1
            await transaction.rollback()
        finally:
            await undone.close()
        lease = (await _claim(world)).lease_id
        claimed = await world.owner.fetchval("SELECT release_run_id FROM runner_leases WHERE id = $1", lease)
        assert claimed == oldest


async def test_a_managed_runner_finds_runs_of_marked_and_of_unmarked_installations(world: World) -> None:
    await world.opened()
    await mark(world, 1, ahead="-1 hour", rescan_in="1 hour")
    assert (await world.claimed()).installation_id == 1


async def test_a_run_below_the_mark_waits_for_the_next_walk_from_the_beginning(world: World) -> None:
    await world.opened()
    await mark(world, 1, ahead="1 hour", rescan_in="1 hour")
    assert (await _claim(world)).outcome == "none"
    await world.owner.execute("UPDATE claim_marks SET rescan_at = now()")
    assert (await _claim(world)).outcome == "created"


async def test_a_short_walk_from_the_beginning_forgets_the_mark(world: World) -> None:
    await world.opened()
    await mark(world, 1, ahead="1 hour", rescan_in="0 seconds")
    assert (await _claim(world)).outcome == "created"
    assert await world.count("claim_marks") == 0


async def test_a_run_with_needs_is_found_below_the_mark(world: World) -> None:
    await world.opened()
    await world.owner.execute("UPDATE release_runs SET needs = '{kicad>=9}'")
    await mark(world, 1, ahead="1 hour", rescan_in="1 hour")
    assert (await _claim(world)).outcome == "none"
    assert (await _claim(world, capabilities=("kicad=9.0.8",))).outcome == "created"


@pytest.mark.parametrize(("ahead", "outcome"), [("-1 hour", "created"), ("1 hour", "none")])
async def test_beside_a_claim_that_walks_from_the_beginning_others_go_on_from_the_old_mark(
    world: World, database_urls: DatabaseUrls, ahead: str, outcome: str
) -> None:
    await world.opened()
    await found(world, 2, 20)
    await mark(world, 2, ahead="-2 hours", rescan_in="0 seconds")
    await mark(world, 1, ahead=ahead, rescan_in="0 seconds")
    holder = await connect(database_urls.owner, application_name="tests holder")
    try:
        async with holder.transaction():
            await holder.fetch("SELECT FROM claim_marks WHERE installation_id = 1 FOR NO KEY UPDATE")
            assert (await _claim(world)).outcome == outcome
    finally:
        await holder.close()
