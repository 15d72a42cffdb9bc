"""Which one-shot effects a relay is given, and what becomes of those it gives back."""

from __future__ import annotations

from datetime import timedelta

from tests.sql.conftest import SHA_A, SHA_B, SHA_C, World, observation

TICK = timedelta(microseconds=1)


async def owed_looks(world: World) -> None:
    """Two pull requests that GitHub is to be asked about."""
    for number, sha in enumerate((SHA_A, SHA_B), 1):
        await world.opened(sha, number=number)
        await world.enqueue(observation(SHA_C, minute=-1, number=number))


async def test_an_effect_is_due_from_the_very_moment_on_and_again_when_its_claim_ran_out(
    world: World,
) -> None:
    await owed_looks(world)
    due = await world.owner.fetchval("SELECT min(available_at) FROM outbox")
    assert await world.call("claim_outbox", 1, 30, due - TICK) == []
    (first,) = await world.call("claim_outbox", 1, 30, due)
    await world.owner.execute("DELETE FROM outbox WHERE id <> $1", first["effect_id"])
    ran_out = due + timedelta(seconds=30)
    assert await world.call("claim_outbox", 10, 30, ran_out - TICK) == []
    (second,) = await world.call("claim_outbox", 10, 30, ran_out)
    assert (second["effect_id"], second["generation"]) == (first["effect_id"], first["generation"] + 1)


async def test_no_more_are_claimed_than_asked_for_and_the_oldest_first(world: World) -> None:
    await owed_looks(world)
    claimed = [await world.call("claim_outbox", 1, 30) for _ in range(3)]
    assert [[row["ref"] for row in rows] for rows in claimed] == [
        ["refs/pull/1/head"],
        ["refs/pull/2/head"],
        [],
    ]


async def test_what_is_given_back_unsent_again_and_again_was_never_sent_less_than_never(world: World) -> None:
    await owed_looks(world)
    (effect,) = await world.call("claim_outbox", 1, 30)
    (check,) = await world.call("claim_publications", 1, 30, 60)
    for _ in range(2):
        key = effect["effect_id"], effect["generation"]
        assert await world.answer("defer_outbox", *key, "crowded", 0, None, False) == "applied"
        key = check["publication_id"], check["generation"]
        assert await world.answer("defer_publication", *key, "uncertain", "", 0, None, False) == "applied"
    for table in ("outbox", "publications"):
        assert await world.owner.fetchval(f"SELECT min(send_count) FROM {table}") == 0


async def test_one_that_was_sent_before_and_is_given_back_unsent_counts_the_send_before(world: World) -> None:
    await owed_looks(world)
    for sent in (True, False):
        (effect,) = await world.call("claim_outbox", 1, 30)
        key = effect["effect_id"], effect["generation"]
        assert await world.answer("defer_outbox", *key, "crowded", -1, None, sent) == "applied"
    assert await world.owner.fetchval("SELECT max(send_count) FROM outbox") == 1
