"""Which Check Runs a relay is given: what is due, one of a commit at a time, the lower retry first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from boardreadyops.db.pool import Record
from tests.sql.conftest import SHA_A, SHA_B, World
from tests.sql.test_neighbours import found, opened_at

SECOND = timedelta(seconds=1)
TICK = timedelta(microseconds=1)


async def claim(world: World, *, limit: int = 10, **at: object) -> list[Record]:
    return await world.call("claim_publications", limit, 30, 60, at.get("now"))


async def defer(world: World, row: Record, error_class: str | None, delay_seconds: int = 0) -> str:
    key = row["publication_id"], row["generation"]
    return await world.answer("defer_publication", *key, error_class, "HTTP 502", delay_seconds)


async def acknowledge(world: World, row: Record) -> None:
    key = row["publication_id"], row["generation"], row["seq"]
    assert await world.answer("acknowledge_publication", *key) == "applied"


async def asked_again(world: World) -> list[int]:
    """A run that was retried before GitHub heard of its first end; the publications of both askings."""
    run_id = await world.opened()
    await world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "mira")
    await world.call("retry_release_run", 1, run_id, 0)
    rows = await world.owner.fetch("SELECT id FROM publications ORDER BY retry_number")
    return [row["id"] for row in rows]


async def test_a_row_is_due_from_the_very_moment_on(world: World) -> None:
    await world.opened()
    due = await world.owner.fetchval("SELECT available_at FROM publications")
    assert await claim(world, now=due - TICK) == []
    (row,) = await claim(world, now=due)
    again = due + 90 * SECOND
    assert await claim(world, now=again - TICK) == []
    (taken_over,) = await claim(world, now=again)
    assert taken_over["generation"] == row["generation"] + 1


async def test_no_more_are_claimed_than_asked_for_and_the_oldest_first(world: World) -> None:
    runs = [await world.opened(sha, number=number) for number, sha in enumerate((SHA_A, SHA_B), 1)]
    assert [row["release_run_id"] for row in await claim(world, limit=1)] == runs[:1]
    assert [row["release_run_id"] for row in await claim(world, limit=1)] == runs[1:]


async def test_a_busy_commit_holds_up_no_other(world: World) -> None:
    await world.opened(SHA_A, number=1)
    assert len(await claim(world)) == 1
    await world.opened(SHA_A, number=2)
    other = await world.opened(SHA_B, number=3)
    (row,) = await claim(world, limit=1)
    assert row["release_run_id"] == other


async def test_a_commit_is_busy_in_its_own_repository_alone(world: World) -> None:
    await found(world, 2, 20)
    await opened_at(world, (2, 20, 1), SHA_A)
    assert len(await claim(world)) == 1
    run_id = await world.opened(SHA_A, number=2)
    assert [row["release_run_id"] for row in await claim(world)] == [run_id]


async def test_two_relays_at_once_take_no_two_rows_of_one_commit(world: World) -> None:
    await world.opened(SHA_A, number=1)
    await world.opened(SHA_A, number=2)
    claimed = []
    async with world.app.transaction() as one, world.app.transaction() as other:
        for connection, limit in ((one, 1), (other, 10)):
            rows = await connection.fetch("SELECT * FROM boardreadyops_claim_publications($1, 30, 60)", limit)
            claimed.append(len(rows))
    assert claimed == [1, 0]


async def test_a_higher_retry_waits_for_a_lower_one_that_is_put_off_and_holds_up_no_other(
    world: World,
) -> None:
    first, second = await asked_again(world)
    (row,) = await claim(world)
    assert row["publication_id"] == first
    await defer(world, row, "transient", delay_seconds=600)
    assert await claim(world) == []
    other = await world.opened(SHA_B, number=2)
    (row,) = await claim(world, limit=1)
    assert row["release_run_id"] == other
    await acknowledge(world, row)
    later = await world.owner.fetchval("SELECT now() + interval '601 seconds'")
    (row,) = await claim(world, limit=1, now=later)
    assert row["publication_id"] == first
    await acknowledge(world, row)
    assert [row["publication_id"] for row in await claim(world)] == [second]


async def test_nothing_waits_for_a_check_that_is_given_up(world: World) -> None:
    first, second = await asked_again(world)
    (row,) = await claim(world)
    assert row["publication_id"] == first
    assert await defer(world, row, "gone") == "applied"
    assert [row["publication_id"] for row in await claim(world)] == [second]


async def test_a_check_that_is_gone_while_it_is_leased_lets_the_next_one_go(world: World) -> None:
    run_id = await world.opened()
    (row,) = await claim(world)
    assert await world.answer("record_verification", row["publication_id"], row["seq"], "gone") == "applied"
    (following,) = await claim(world)
    assert following["external_id"] == f"{run_id}:0:1"


async def test_two_checks_of_one_asking_do_not_wait_for_each_other(world: World) -> None:
    run_id = await world.opened()
    await world.published()
    await world.owner.execute("UPDATE publications SET verify_at = now()")
    (look,) = await world.call("claim_verifications", 10, 60)
    await world.answer("record_verification", look["publication_id"], look["seq"], "frozen")
    await world.owner.execute("UPDATE publications SET closed_code = NULL")
    await world.claimed()
    claimed = []
    for _ in range(2):
        (row,) = await claim(world)
        claimed.append(row["external_id"])
        await acknowledge(world, row)
    assert sorted(claimed) == [f"{run_id}:0:0", f"{run_id}:0:1"]


async def test_what_is_in_doubt_stays_so_when_the_read_before_the_send_fails(world: World) -> None:
    await world.opened()
    (row,) = await claim(world)
    assert await defer(world, row, "uncertain") == "applied"
    assert await claim(world) == [], "the request may still be on its way"
    await world.owner.execute("UPDATE publications SET claimed_until = claimed_until - interval '60 seconds'")
    for _ in range(2):
        (row,) = await claim(world)
        assert row["doubtful"]
        assert await defer(world, row, "transient") == "applied"


@pytest.mark.parametrize("error_class", [None, "", "odd"])
async def test_an_unknown_error_class_is_invalid(world: World, error_class: str | None) -> None:
    await world.opened()
    (row,) = await claim(world)
    before = await world.everything()
    assert await defer(world, row, error_class) == "invalid"
    assert await world.everything() == before
