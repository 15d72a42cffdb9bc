"""What a closed ref does, and what an outdated word of it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from tests.sql.conftest import NOON, SHA_A, World, observation
from tests.sql.test_neighbours import found


def told(installation_id: int, at: datetime, confirmed: int | None = None) -> tuple[object, ...]:
    return installation_id, 10, "refs/pull/1/head", 1, SHA_A, "main", "f" * 40, False, at, confirmed


async def test_another_installation_closes_nothing(world: World) -> None:
    await found(world, 2, 20)
    await world.opened()
    before = await world.everything()
    (row,) = await world.call("close_ref", *told(2, NOON + timedelta(minutes=1)))
    assert (row["close_outcome"], row["cancelled_run_ids"]) == ("not_found", [])
    assert await world.everything() == before


async def test_an_outdated_confirm_has_moved_on_and_asks_for_no_other(world: World) -> None:
    await world.opened()
    before = await world.everything()
    for at, confirmed in ((NOON + timedelta(minutes=1), 9), (NOON - timedelta(minutes=1), 0)):
        (row,) = await world.call("close_ref", *told(1, at, confirmed))
        assert (row["close_outcome"], row["cancelled_run_ids"]) == ("moved_on", [])
    assert await world.everything() == before


async def test_every_later_observation_is_counted_whatever_it_says(world: World) -> None:
    await world.opened()
    await world.opened(minute=1)
    row = await world.owner.fetchrow("SELECT observation, observed_at FROM refs")
    assert row is not None
    assert tuple(row) == (1, NOON + timedelta(minutes=1))


async def test_a_confirm_of_a_ref_that_nobody_saw_is_adopted(world: World) -> None:
    assert (await world.enqueue(observation(), confirmed=3)).outcome == "created"


async def test_a_ref_is_as_trusted_as_when_it_was_last_seen_open(world: World) -> None:
    await world.opened()
    await world.enqueue(replace(observation("b" * 40, minute=1), trust_mode="fork"))
    assert await world.owner.fetchval("SELECT trust_mode FROM refs") == "fork"
    assert (await world.close(observation("b" * 40, minute=2))).outcome == "closed"
    assert await world.owner.fetchval("SELECT trust_mode FROM refs") == "fork"
