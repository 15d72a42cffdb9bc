"""The mark of an installation whose claims walk far: where it lies, when it is forgotten, and whose it is."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from boardreadyops.db.pool import connect
from tests.conftest import DatabaseUrls
from tests.sql.conftest import World
from tests.sql.test_held_rows import LONGER_THAN_ANY_CALL
from tests.sql.test_neighbours import found, opened_at
from tests.sql.test_overtaken_calls import until_blocked

LONG, SHORT = 31, 30
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
LATE_COMMIT, RESCAN = 30 * SECOND, 5 * MINUTE


async def clock(world: World) -> datetime:
    now: datetime = await world.owner.fetchval("SELECT now()")
    return now


async def note(world: World, walked: int, now: datetime) -> None:
    """As a claim of installation 1 does that walked over so many entries; it waits for nobody."""
    async with world.owner.transaction():
        await world.owner.execute(f"SET LOCAL lock_timeout = '{LONGER_THAN_ANY_CALL}'")
        await world.owner.execute("SELECT boardreadyops_note_claim_walk(1, $1, $2)", walked, now)


async def marked(world: World, queued_at: datetime, rescan_at: datetime, installation_id: int = 1) -> None:
    await world.owner.execute(
        "INSERT INTO claim_marks VALUES ($1, $2, $3)", installation_id, queued_at, rescan_at
    )


async def marks(world: World) -> dict[int, tuple[datetime, datetime]]:
    rows = await world.owner.fetch("SELECT installation_id, queued_at, rescan_at FROM claim_marks")
    return {row[0]: (row[1], row[2]) for row in rows}


async def waiting_since(world: World, moment: datetime, *, number: int = 1) -> None:
    run_id = await world.opened(number=number)
    await world.owner.execute("UPDATE release_runs SET queued_at = $2 WHERE id = $1", run_id, moment)


@pytest.mark.parametrize(
    ("ages", "age_of_mark"),
    [
        ((), LATE_COMMIT),
        ((5 * SECOND,), LATE_COMMIT),
        ((LATE_COMMIT,), LATE_COMMIT),
        ((HOUR, 2 * HOUR), 2 * HOUR),
    ],
)
async def test_a_first_mark_lies_at_the_oldest_waiting_run_and_behind_what_may_commit_late(
    world: World, ages: tuple[timedelta, ...], age_of_mark: timedelta
) -> None:
    now = await clock(world)
    for number, age in enumerate(ages, start=1):
        await waiting_since(world, now - age, number=number)
    await note(world, SHORT, now)
    assert await marks(world) == {}
    await note(world, LONG, now)
    assert await marks(world) == {1: (now - age_of_mark, now + RESCAN)}


UNFIT = {
    "it runs": "UPDATE release_runs SET status = 'running'",
    "a workflow executes it": "UPDATE release_runs SET execution_backend = 'actions'",
    "it waits for approval": "UPDATE release_runs SET approval = 'waiting'",
    "it has needs": "UPDATE release_runs SET needs = '{kicad>=9}'",
    "it is another's": "",
}


@pytest.mark.by_hand
@pytest.mark.parametrize("why", UNFIT)
async def test_only_what_any_runner_may_have_holds_the_mark_back(world: World, why: str) -> None:
    now = await clock(world)
    if why == "it is another's":
        await found(world, 2, 20)
        run_id = await opened_at(world, (2, 20, 1))
        await world.owner.execute("UPDATE release_runs SET queued_at = $2 WHERE id = $1", run_id, now - HOUR)
    else:
        await waiting_since(world, now - HOUR)
        await world.owner.execute(UNFIT[why])
    await note(world, LONG, now)
    assert await marks(world) == {1: (now - LATE_COMMIT, now + RESCAN)}
    await world.owner.execute("UPDATE release_runs SET status = 'queued'")


@pytest.mark.parametrize("age", [HOUR, 30 * MINUTE, 10 * MINUTE])
@pytest.mark.parametrize("rescan_in", [SECOND, timedelta(0), -SECOND])
async def test_a_mark_moves_on_from_where_it_lies_and_at_its_time_is_found_anew(
    world: World, age: timedelta, rescan_in: timedelta
) -> None:
    now = await clock(world)
    await found(world, 2, 20)
    await waiting_since(world, now - age)
    await marked(world, now - 30 * MINUTE, now + rescan_in)
    await marked(world, now - 2 * HOUR, now - HOUR, installation_id=2)
    await note(world, LONG, now)
    seen = age <= 30 * MINUTE or rescan_in <= timedelta(0)
    begins = now - (age if seen else LATE_COMMIT)
    rescan_at = now + (rescan_in if rescan_in > timedelta(0) else RESCAN)
    assert await marks(world) == {1: (begins, rescan_at), 2: (now - 2 * HOUR, now - HOUR)}


async def test_a_first_mark_is_written_beside_those_of_others(world: World) -> None:
    now = await clock(world)
    await found(world, 2, 20)
    await marked(world, now - HOUR, now + HOUR, installation_id=2)
    await note(world, LONG, now)
    assert set(await marks(world)) == {1, 2}


@pytest.mark.parametrize(("rescan_in", "left"), [(SECOND, {1, 2}), (timedelta(0), {2}), (-SECOND, {2})])
async def test_a_short_walk_at_its_time_forgets_the_own_mark_alone(
    world: World, rescan_in: timedelta, left: set[int]
) -> None:
    now = await clock(world)
    await found(world, 2, 20)
    await marked(world, now - HOUR, now + rescan_in)
    await marked(world, now - HOUR, now - HOUR, installation_id=2)
    await note(world, SHORT, now)
    assert set(await marks(world)) == left


@pytest.mark.parametrize("walked", [LONG, SHORT])
async def test_a_mark_that_another_claim_holds_is_neither_moved_nor_waited_for(
    world: World, database_urls: DatabaseUrls, walked: int
) -> None:
    now = await clock(world)
    await marked(world, now - HOUR, now - SECOND)
    before = await marks(world)
    holder = await connect(database_urls.owner, application_name="tests holder")
    try:
        async with holder.transaction():
            await holder.fetch("SELECT FROM claim_marks FOR UPDATE")
            await note(world, walked, now)
        assert await marks(world) == before
    finally:
        await holder.close()


async def test_of_two_first_marks_at_once_one_stays(world: World, database_urls: DatabaseUrls) -> None:
    now = await clock(world)
    first = await connect(database_urls.owner, application_name="tests first")
    try:
        async with first.transaction():
            await first.execute("SELECT boardreadyops_note_claim_walk(1, $1, $2)", LONG, now)
            second = asyncio.create_task(note(world, LONG, now - MINUTE))
            await until_blocked(first, second, world.owner.get_server_pid())
            assert not second.done()
        await second
    finally:
        await first.close()
    assert (await marks(world))[1] == (now - LATE_COMMIT, now + RESCAN)
