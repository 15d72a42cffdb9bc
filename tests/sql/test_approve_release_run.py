"""Approval: someone with write access lets a fork's run go ahead."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.runs import ApproveOutcome, approve_release_run
from tests.sql.conftest import World, observation
from tests.sql.test_cancel_release_run import cancel


async def approve(
    world: World, run_id: UUID, *, installation_id: int = 1, by: str = "mira"
) -> ApproveOutcome:
    async with world.app.transaction() as connection:
        return await approve_release_run(
            connection, installation_id=installation_id, release_run_id=run_id, approved_by=by
        )


async def waiting_run(world: World) -> UUID:
    enqueued = await world.enqueue(replace(observation(), trust_mode="fork"))
    assert enqueued.release_run_id is not None
    assert (await world.run(enqueued.release_run_id))["approval"] == "waiting"
    return enqueued.release_run_id


async def test_an_approved_run_becomes_claimable_without_a_transition(world: World) -> None:
    run_id = await waiting_run(world)
    before = await world.run(run_id)
    later = before["queued_at"] + timedelta(days=2)
    assert await world.answer("approve_release_run", 1, run_id, "mira", later) == "applied"
    run = await world.run(run_id)
    assert (run["approval"], run["approved_by"], run["approved_at"]) == ("approved", "mira", later)
    assert (run["status"], run["version"], run["event_hash"]) == ("queued", 0, before["event_hash"])
    assert (run["queued_at"], run["due_at"]) == (later, later + timedelta(hours=6))
    assert await world.history(run_id) == []
    told = await world.publication(run_id)
    assert (told["payload"]["approval"], told["desired_seq"]) == ("approved", 2)
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    assert (await world.claimed()).release_run_id == run_id


async def test_again_it_answers_existing_and_keeps_who_was_first(world: World) -> None:
    run_id = await waiting_run(world)
    assert await approve(world, run_id) == "applied"
    before = await world.everything()
    assert await approve(world, run_id, by="somebody else") == "existing"
    assert await world.everything() == before
    await cancel(world, run_id)
    assert await approve(world, run_id) == "existing"


async def test_a_trusted_run_needs_none(world: World) -> None:
    run_id = await world.opened()
    before = await world.everything()
    assert await approve(world, run_id) == "existing"
    assert await world.everything() == before


@pytest.mark.parametrize("installation_id", [1, 2])
async def test_an_unknown_run_or_another_tenants_is_not_found(world: World, installation_id: int) -> None:
    run_id = await waiting_run(world)
    before = await world.everything()
    wanted = uuid4() if installation_id == 1 else run_id
    assert await approve(world, wanted, installation_id=installation_id) == "not_found"
    assert await world.everything() == before


async def test_a_run_that_ended_while_it_waited_is_terminal(world: World) -> None:
    run_id = await waiting_run(world)
    await cancel(world, run_id)
    before = await world.everything()
    assert await approve(world, run_id) == "terminal"
    assert await world.everything() == before


async def test_who_approved_is_cut_at_200_characters(world: World) -> None:
    run_id = await waiting_run(world)
    await approve(world, run_id, by="x" * 300)
    assert (await world.run(run_id))["approved_by"] == "x" * 200


async def test_an_approval_never_lies_before_what_happened_already(world: World) -> None:
    run_id = await waiting_run(world)
    updated_at = (await world.run(run_id))["updated_at"]
    await world.call("approve_release_run", 1, run_id, "mira", updated_at - timedelta(days=1))
    assert (await world.run(run_id))["approved_at"] == updated_at


async def test_an_actions_run_is_dispatched_when_check_and_approval_are_both_there(world: World) -> None:
    await world.execute_by("actions")
    await world.opened(number=2)
    await world.published()
    (theirs,) = await world.owed("workflow_dispatch")
    run_id = await waiting_run(world)
    await world.published(first_check_run_id=600)
    attempt = await world.attempt((await world.run(run_id))["execution_attempt_id"])
    assert (attempt["status"], await world.owed("workflow_dispatch")) == ("dispatching", [theirs])
    assert await approve(world, run_id) == "applied"
    _, effect = await world.owed("workflow_dispatch")
    assert (effect["execution_attempt_id"], effect["release_run_id"], effect["started_at"]) == (
        attempt["id"],
        run_id,
        None,
    )


async def test_an_actions_run_approved_before_its_check_is_dispatched_with_the_check(world: World) -> None:
    await world.execute_by("actions")
    run_id = await waiting_run(world)
    await approve(world, run_id)
    assert await world.owed("workflow_dispatch") == []
    await world.published()
    assert len(await world.owed("workflow_dispatch")) == 1
