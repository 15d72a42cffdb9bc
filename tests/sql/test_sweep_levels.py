"""The level rule: an open ref of an enabled tenant has an answer for its head, or is asked again."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from boardreadyops.db.runs import cancel_installation_runs
from boardreadyops.db.sweeps import Level, resume_installation, sweep_levels
from tests.sql.conftest import World, observation
from tests.sql.test_cancel_release_run import cancel
from tests.sql.test_held_rows import meanwhile
from tests.sql.test_neighbours import found, opened_at


async def resume(world: World, *, limit: int = 10, installation_id: int = 1) -> int:
    async with world.app.transaction() as connection:
        return await resume_installation(connection, installation_id=installation_id, limit=limit)


async def sweep(world: World, *, limit: int = 10) -> tuple[Level, ...]:
    async with world.app.transaction() as connection:
        return await sweep_levels(connection, limit=limit)


async def interrupted(world: World, *, number: int = 1, reason: str = "installation_suspended") -> UUID:
    """An open ref whose run its installation's suspension has cancelled."""
    run_id = await world.opened(number=number)
    async with world.app.transaction() as connection:
        await cancel_installation_runs(connection, installation_id=1, reason_code=reason, limit=10)
    return run_id


async def test_open_refs_are_marked_in_batches_once(world: World) -> None:
    for number in range(1, 4):
        await world.opened(number=number)
    await world.close(observation(minute=1, number=3))
    assert [await resume(world, limit=1) for _ in range(3)] == [1, 1, 0]
    assert (
        await world.owner.fetchval("SELECT count(*) FROM refs WHERE level_due_at IS NOT NULL AND open") == 2
    )
    assert [row["ref"] for row in await world.owed("confirm_pull_request")] == [
        "refs/pull/1/head",
        "refs/pull/2/head",
    ]
    before = await world.everything()
    assert await resume(world) == 0
    assert await resume(world, installation_id=2) == 0
    assert await world.everything() == before


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        ("outbox", "UPDATE outbox SET settled_at = now(), outcome_code = 'confirmed'"),
        ("publications", "UPDATE publications SET acked_seq = desired_seq"),
        ("publications", "UPDATE publications SET closed_code = 'gone'"),
        ("publications", "UPDATE publications SET leased = true"),
    ],
)
async def test_what_is_told_closed_or_being_told_keeps_its_time(world: World, table: str, kept: str) -> None:
    await interrupted(world)
    await resume(world)
    await world.owner.execute(f"UPDATE {table} SET available_at = now() + interval '3 hours'")
    await world.owner.execute(kept)
    await resume(world)
    assert await world.owner.fetchval(f"SELECT min(available_at) > now() FROM {table}")


async def test_what_github_is_owed_is_due_at_once_when_the_tenant_is_back(world: World) -> None:
    await interrupted(world)
    await resume(world)
    later = "now() + interval '3 hours'"
    await world.owner.execute(f"UPDATE outbox SET available_at = {later}")
    await world.owner.execute(f"UPDATE publications SET available_at = {later}")
    assert (await world.effects(), await world.published()) == ((), [])
    await resume(world, installation_id=2)
    assert (await world.effects(), await world.published()) == ((), [])
    await resume(world)
    assert (len(await world.effects()), len(await world.published())) == (1, 1)


@pytest.mark.parametrize("reason", ["installation_suspended", "installation_removed", "repository_removed"])
async def test_what_neither_a_person_nor_policy_cancelled_is_asked_again(world: World, reason: str) -> None:
    run_id = await interrupted(world, reason=reason)
    await resume(world)
    assert await sweep(world) == (Level(run_id, "existing"),)
    run = await world.run(run_id)
    assert (run["status"], run["retry_number"], run["reason_code"]) == ("queued", 1, "head_returned")
    assert (await world.publication(run_id, 1))["external_id"] == f"{run_id}:1:0"
    assert await world.owner.fetchval("SELECT level_due_at FROM refs") is None
    before = await world.everything()
    assert await sweep(world) == ()
    assert await world.everything() == before


@pytest.mark.parametrize("end", ["open", "cancelled", "skipped", "decided", "failed"])
async def test_an_answer_that_stands_is_left_alone(world: World, end: str) -> None:
    run_id = await world.opened()
    match end:
        case "cancelled":
            await cancel(world, run_id)
        case "skipped":
            await cancel(world, run_id, reason="policy_skipped")
        case "decided":
            await world.report(await world.claimed(), "completed", "fail")
        case "failed":
            await world.report(await world.claimed(), "failed", "error")
        case _:
            pass
    await resume(world)
    before = await world.everything(but=("refs",))
    assert await sweep(world) == (Level(run_id, "existing"),)
    assert await world.everything(but=("refs",)) == before


@pytest.mark.parametrize("switch", ["suspended", "removed", "disabled"])
async def test_a_tenant_that_is_not_served_is_put_off_by_an_hour(world: World, switch: str) -> None:
    run_id = await interrupted(world)
    await resume(world)
    await world.owner.execute(
        "UPDATE repositories SET enabled = false"
        if switch == "disabled"
        else f"UPDATE installations SET {switch} = true"
    )
    due_at = await world.owner.fetchval("SELECT level_due_at FROM refs")
    before = await world.everything(but=("refs",))
    assert [tuple(row) for row in await world.call("sweep_levels", 10, due_at)] == [(run_id, "disabled")]
    assert await world.everything(but=("refs",)) == before
    assert await world.owner.fetchval("SELECT level_due_at FROM refs") == due_at + timedelta(hours=1)
    assert await sweep(world) == ()


async def test_a_ref_without_a_run_gets_one(world: World) -> None:
    await world.owner.execute(
        "INSERT INTO refs (repository_id, installation_id, ref, open, draft, head_sha, observed_at, trust_mode,"
        " level_due_at) VALUES (10, 1, 'refs/heads/main', true, false, $1, now(), 'trusted', now())",
        "d" * 40,
    )
    (level,) = await sweep(world)
    assert level.outcome == "created"
    assert level.release_run_id is not None
    assert (await world.run(level.release_run_id))["commit_sha"] == "d" * 40


async def test_a_ref_that_closed_meanwhile_is_only_struck_off(world: World) -> None:
    await world.opened()
    await resume(world)
    await world.close(observation(minute=1))
    before = await world.everything(but=("refs",))
    assert [level.outcome for level in await sweep(world)] == ["closed"]
    assert await world.everything(but=("refs",)) == before
    assert await world.owner.fetchval("SELECT level_due_at FROM refs") is None
    assert await sweep(world) == ()


async def test_one_call_takes_one_ref_and_passes_by_as_many_as_it_is_told(world: World) -> None:
    runs = [await world.opened(number=number) for number in range(1, 4)]
    await resume(world)
    async with world.app.transaction() as connection:
        (second,) = await sweep_levels(connection, limit=10, skip=1)
        (first,) = await sweep_levels(connection, limit=10)
        assert await sweep_levels(connection, limit=10, skip=1) == ()
    (last,) = await sweep(world)
    assert {level.release_run_id for level in (first, second, last)} == set(runs)
    assert await sweep(world) == ()


async def test_a_batch_is_bounded_and_a_held_ref_is_left_for_the_next(world: World) -> None:
    runs = [await world.opened(number=number) for number in range(1, 4)]
    await resume(world)
    assert len(await sweep(world, limit=1)) == 1
    due = await world.owner.fetchval(
        "SELECT ref FROM refs WHERE level_due_at IS NOT NULL ORDER BY ref LIMIT 1"
    )
    async with world.owner.transaction():
        await world.owner.execute("SELECT FROM refs WHERE ref = $1 FOR NO KEY UPDATE", due)
        assert len(await sweep(world)) == 1
    (last,) = await sweep(world)
    assert last.release_run_id in runs


@pytest.mark.parametrize("settled", ["asked again", "closed", "disabled"])
async def test_each_ref_is_settled_for_itself_in_the_order_it_fell_due(world: World, settled: str) -> None:
    await found(world, 2, 20)
    runs = [await opened_at(world, place) for place in ((2, 20, 1), (1, 10, 1), (1, 10, 2))]
    for tenant in (1, 2):
        await world.call("cancel_installation_runs", tenant, "installation_suspended", 10)
    for age, run_id in enumerate(reversed(runs), start=1):
        await world.owner.execute(
            "UPDATE refs SET level_due_at = now() - make_interval(hours => $2) WHERE release_run_id = $1",
            *(run_id, age),
        )
    if settled == "closed":
        await world.owner.execute("UPDATE refs SET open = false")
    elif settled == "disabled":
        await world.owner.execute("UPDATE repositories SET enabled = false")
    left = dict.fromkeys(runs, True)
    for run_id in runs:
        (level,) = await sweep(world)
        assert level.release_run_id == run_id
        left[run_id] = False
        rows = await world.owner.fetch("SELECT release_run_id, level_due_at <= now() AS due FROM refs")
        assert {row["release_run_id"]: bool(row["due"]) for row in rows} == left


async def test_a_sweep_looks_at_as_many_as_it_was_told_to(world: World) -> None:
    for number in (1, 2):
        await world.opened(number=number)
    due = "UPDATE refs SET level_due_at = now() - make_interval(hours => 3 - pull_request_number)"
    await world.owner.execute(due)
    held = "SELECT FROM refs WHERE pull_request_number = 1 FOR UPDATE"
    assert await meanwhile(world, held, "sweep_levels", 1) == []
    assert len(await meanwhile(world, held, "sweep_levels", 2)) == 1
