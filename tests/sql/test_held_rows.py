"""What sweeps and claims do about rows that someone else holds: they take the others and wait for nothing.

A wait of more than a moment is an error here, so a missing SKIP LOCKED fails instead of hanging.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.pool import Record
from tests.sql.conftest import SHA_A, SHA_B, SHA_C, World, observation
from tests.sql.test_neighbours import found, opened_at

Situation = Callable[[World], Awaitable[tuple[str, str, tuple[object, ...]]]]
LONGER_THAN_ANY_CALL = "3s"


async def meanwhile(world: World, held: str, function: str, *arguments: object) -> list[Record]:
    """The function's rows, while another transaction holds what the statement `held` locks."""
    async with world.owner.transaction():
        await world.owner.execute(held)
        async with world.app.transaction() as connection:
            await connection.execute(f"SET LOCAL lock_timeout = '{LONGER_THAN_ANY_CALL}'")
            placeholders = ", ".join(f"${number}" for number in range(1, len(arguments) + 1))
            return await connection.fetch(
                f"SELECT * FROM boardreadyops_{function}({placeholders})", *arguments
            )


async def two_runs(world: World) -> None:
    await world.opened(SHA_A, number=1)
    await world.opened(SHA_B, number=2)


async def effects(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    for number in (1, 2):
        await world.enqueue(observation(SHA_C, minute=-1, number=number))
    return "outbox", "claim_outbox", (10, 30)


async def publications(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    return "publications", "claim_publications", (10, 30, 60)


async def verifications(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    await world.published()
    await world.owner.execute("UPDATE publications SET verify_at = now()")
    return "publications", "claim_verifications", (10, 60)


async def deadlines(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    return (
        "release_runs",
        "sweep_deadlines",
        (10, None, await world.owner.fetchval("SELECT now() + '1 year'::interval")),
    )


async def levels(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    await world.owner.execute("UPDATE refs SET level_due_at = now()")
    return "refs", "sweep_levels", (10,)


async def leases(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    runner = await world.runner()
    for _ in (1, 2):
        await world.claimed(runner)
    expires_at = await world.owner.fetchval("SELECT max(expires_at) FROM runner_leases")
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", expires_at - timedelta(seconds=6))
    return "release_runs", "expire_runner_leases", (10, None, expires_at)


async def managed_claim(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    return "release_runs", "claim_runner_lease", (await world.runner(), uuid4(), [])


async def installations_claim(world: World) -> tuple[str, str, tuple[object, ...]]:
    await two_runs(world)
    return "release_runs", "claim_runner_lease", (await world.runner(installation_id=1), uuid4(), [])


@pytest.mark.parametrize(
    "situation",
    [effects, publications, verifications, deadlines, levels, leases, managed_claim, installations_claim],
)
async def test_a_held_row_is_left_out_and_the_other_is_taken(world: World, situation: Situation) -> None:
    table, function, arguments = await situation(world)
    page, place = await world.owner.fetchval(f"SELECT ctid FROM {table} ORDER BY ctid LIMIT 1")
    first = f"SELECT FROM {table} WHERE ctid = '({page},{place})'"
    (row,) = await meanwhile(world, f"{first} FOR NO KEY UPDATE", function, *arguments)
    assert "none" not in row.values()
    assert len(await world.owner.fetch(first)) == 1, "the held row has no newer version"


@pytest.mark.parametrize("held", ["outbox", "publications"])
async def test_a_tenant_resumes_while_what_it_is_owed_is_being_told(world: World, held: str) -> None:
    await effects(world)
    for table in ("outbox", "publications"):
        await world.owner.execute(f"UPDATE {table} SET available_at = now() + interval '1 hour'")
    await world.owner.execute("UPDATE refs SET level_due_at = now()")
    await meanwhile(
        world,
        f"SELECT FROM {held} WHERE id = (SELECT min(id) FROM {held}) FOR NO KEY UPDATE",
        "resume_installation",
        1,
        10,
    )
    waiting = {
        table: await world.owner.fetchval(f"SELECT count(*) FROM {table} WHERE available_at > now()")
        for table in ("outbox", "publications")
    }
    assert waiting == {"outbox": 0, "publications": 0} | {held: 1}


async def test_grace_passes_by_leases_whose_runners_are_here(world: World) -> None:
    await leases(world)
    now = await world.owner.fetchval("SELECT min(claimed_at) + interval '60 seconds' FROM runner_leases")
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(hours=1))
    held = "SELECT FROM runner_leases WHERE claimed_at = (SELECT min(claimed_at) FROM runner_leases) FOR NO KEY UPDATE"
    assert await meanwhile(world, held, "expire_runner_leases", 10, None, now) == []
    graced = await world.owner.fetch(
        "SELECT expires_at = $1 FROM runner_leases ORDER BY claimed_at", now + timedelta(minutes=2)
    )
    assert [row[0] for row in graced] == [False, True]


async def test_a_lease_that_the_grace_could_not_reach_does_not_expire_before_its_end(world: World) -> None:
    await leases(world)
    now = await world.owner.fetchval("SELECT max(expires_at) FROM runner_leases")
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(hours=1))
    held = "SELECT FROM runner_leases FOR NO KEY UPDATE"
    assert await meanwhile(world, held, "expire_runner_leases", 10, None, now) == []
    assert await world.owner.fetchval("SELECT max(expires_at) FROM runner_leases") == now
    assert await world.call("expire_runner_leases", 10, None, now + timedelta(seconds=1)) == []
    for seconds in range(4, 120, 4):
        assert await world.call("expire_runner_leases", 10, None, now + timedelta(seconds=seconds)) == []
    rows = await world.call("expire_runner_leases", 10, None, now + timedelta(seconds=120))
    assert [row["expiry_outcome"] for row in rows] == ["requeued"] * 2


async def test_while_another_sweep_holds_the_mark_that_is_late_no_lease_expires(world: World) -> None:
    await leases(world)
    now = await world.owner.fetchval("SELECT max(expires_at) FROM runner_leases")
    await world.owner.execute("INSERT INTO sweep_marks VALUES ('another', now())")
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(hours=1))
    held = "SELECT FROM sweep_marks WHERE sweep = 'leases' FOR NO KEY UPDATE"
    assert await meanwhile(world, held, "expire_runner_leases", 10, None, now) == []
    assert await world.owner.fetchval("SELECT max(swept_at) FROM sweep_marks") == now - timedelta(hours=1)


async def verdict(world: World) -> UUID:
    """Beside a neutral end of another commit, which is a head as well."""
    await world.opened(SHA_B, number=3)
    await world.close(observation(SHA_B, minute=1, number=3))
    return await world.opened(SHA_A, number=1)


async def end_of_no_head(world: World) -> UUID:
    run_id = await world.opened(SHA_A, number=1)
    await world.opened(SHA_C, minute=1, number=1)
    return run_id


async def end_of_a_closed_head(world: World) -> UUID:
    run_id = await world.opened(SHA_A, number=1)
    await world.close(observation(SHA_A, minute=1, number=1))
    return run_id


async def end_of_a_head_of_another_repository(world: World) -> UUID:
    await found(world, 2, 20)
    await opened_at(world, (2, 20, 1), SHA_A)
    return await end_of_no_head(world)


@pytest.mark.parametrize(
    "lands", [verdict, end_of_no_head, end_of_a_closed_head, end_of_a_head_of_another_repository]
)
async def test_only_a_neutral_end_on_another_head_waits_for_a_run(
    world: World, lands: Callable[[World], Awaitable[UUID]]
) -> None:
    await world.opened(SHA_B, number=2)
    run_id = await lands(world)
    await world.owner.execute(
        "UPDATE publications SET acked_seq = desired_seq WHERE release_run_id <> $1", run_id
    )
    (row,) = await world.call("claim_publications", 10, 30, 60)
    key = row["publication_id"], row["generation"]
    held = "SELECT FROM release_runs FOR UPDATE"
    ((outcome,),) = await meanwhile(world, held, "acknowledge_publication", *key, row["seq"])
    assert outcome == "applied"


async def test_an_unchanged_heartbeat_waits_for_no_run_and_no_attempt(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    held = "SELECT FROM release_runs, release_run_attempts FOR UPDATE"
    (beat,) = await meanwhile(world, held, "heartbeat_runner_lease", grant.lease_id, "claimed", 1, "")
    assert beat["directive"] == "continue"


async def test_a_heartbeat_of_an_ended_lease_waits_for_no_run(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await world.report(grant)
    held = "SELECT FROM release_runs, release_run_attempts FOR UPDATE"
    later = await world.owner.fetchval("SELECT now() + interval '1 hour'")
    (beat,) = await meanwhile(
        world, held, "heartbeat_runner_lease", grant.lease_id, "reporting", 1, "", later
    )
    assert (beat["lease_state"], beat["directive"], beat["expires_in_seconds"]) == ("completed", "stop", 0)


@pytest.mark.parametrize("installation_id", [None, 1])
async def test_a_claim_holds_its_own_run_and_none_besides(world: World, installation_id: int | None) -> None:
    await two_runs(world)
    runners = [await world.runner(installation_id=installation_id) for _ in (1, 2)]
    async with world.app.transaction() as first, world.app.transaction() as second:
        outcomes = []
        for connection, runner in zip((first, second), runners, strict=True):
            await connection.execute(f"SET LOCAL lock_timeout = '{LONGER_THAN_ANY_CALL}'")
            row = await connection.fetchrow(
                "SELECT * FROM boardreadyops_claim_runner_lease($1, $2, $3)", runner, uuid4(), []
            )
            assert row is not None
            outcomes.append(row["claim_outcome"])
    assert outcomes == ["created", "created"]


async def test_what_is_held_of_one_tenant_stops_no_other(world: World) -> None:
    await found(world, 2, 20)
    run_id = await world.opened()
    held = "SELECT FROM installations JOIN repositories ON installation_id = installations.id WHERE installation_id = 2"
    for function, arguments in (
        ("enqueue_pushed_ref", (1, 10, "refs/heads/main", "0" * 40, SHA_A)),
        ("retry_release_run", (1, run_id, 0)),
        ("cancel_installation_runs", (1, "installation_suspended", 10)),
    ):
        assert len(await meanwhile(world, f"{held} FOR UPDATE", function, *arguments)) == 1
