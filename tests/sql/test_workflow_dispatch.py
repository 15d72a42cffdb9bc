"""Workflow dispatches: begun once, acknowledged by whoever hears of it, given up within a bound."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from uuid import UUID

import pytest

from boardreadyops.db.dispatches import (
    Begun,
    acknowledge_workflow_dispatch,
    begin_workflow_dispatch,
    give_up_workflow_dispatch,
)
from boardreadyops.db.pool import Record
from tests.sql.conftest import SHA_A, SHA_B, World
from tests.sql.test_cancel_release_run import cancel


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The claimed dispatch of a run whose check GitHub shows."""

    run_id: UUID
    attempt_id: UUID
    effect_id: int
    generation: int


async def claimed_dispatch(
    world: World, head_sha: str = SHA_A, *, minute: int = 0, number: int = 1
) -> Dispatch:
    await world.execute_by("actions")
    run_id = await world.opened(head_sha, minute=minute, number=number)
    await world.published()
    return await claim_again(world, run_id)


async def claim_again(world: World, run_id: UUID) -> Dispatch:
    await world.owner.execute("UPDATE outbox SET claimed_until = NULL")
    effects = {effect.effect_id: effect for effect in await world.effects()}
    for row in await world.owed("workflow_dispatch"):
        if row["release_run_id"] == run_id and row["id"] in effects:
            return Dispatch(run_id, row["execution_attempt_id"], row["id"], effects[row["id"]].generation)
    raise AssertionError("no dispatch is due")


async def begin(world: World, dispatch: Dispatch) -> Begun:
    async with world.app.transaction() as connection:
        return await begin_workflow_dispatch(
            connection, effect_id=dispatch.effect_id, generation=dispatch.generation
        )


async def acknowledge(
    world: World, dispatch: Dispatch, workflow_run_id: int | None = 77, attempt: int | None = 1
) -> str:
    async with world.app.transaction() as connection:
        return await acknowledge_workflow_dispatch(
            connection,
            effect_id=dispatch.effect_id,
            workflow_run_id=workflow_run_id,
            workflow_run_attempt=attempt,
        )


async def give_up(world: World, dispatch: Dispatch, cause: Literal["refused", "silent"] = "refused") -> str:
    async with world.app.transaction() as connection:
        return await give_up_workflow_dispatch(
            connection, effect_id=dispatch.effect_id, generation=dispatch.generation, cause=cause
        )


async def report(world: World, dispatch: Dispatch, status: str = "completed", decision: str = "pass") -> str:
    """The workflow tells its result."""
    run = await world.run(dispatch.run_id)
    key = run["id"], dispatch.attempt_id, run["retry_id"], None, b"\1" * 32, status, decision
    return await world.answer("record_runner_result", *key, "", 0, 0, {})


async def effect_of(world: World, dispatch: Dispatch) -> Record:
    row = await world.owner.fetchrow("SELECT * FROM outbox WHERE id = $1", dispatch.effect_id)
    assert row is not None
    return row


async def test_a_planned_attempt_waits_for_its_check_and_is_dispatched_once(world: World) -> None:
    await world.execute_by("actions")
    run_id = await world.opened()
    attempt_id = (await world.run(run_id))["execution_attempt_id"]
    attempt = await world.attempt(attempt_id)
    assert (attempt["status"], attempt["version"], attempt["number"]) == ("queued", 0, 1)
    assert await world.owed("workflow_dispatch") == []
    await world.published()
    attempt = await world.attempt(attempt_id)
    assert (attempt["status"], attempt["version"]) == ("dispatching", 1)
    assert await world.history(run_id) == [
        ("execution_attempt", "queued", "dispatching", "check_run_created")
    ]
    (effect,) = await world.owed("workflow_dispatch")
    assert (effect["release_run_id"], effect["execution_attempt_id"]) == (run_id, attempt_id)


async def test_begin_marks_the_dispatch_as_started_once(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    begun = await begin(world, dispatch)
    assert begun.started_at is not None
    assert begun == Begun("begun", dispatch.run_id, dispatch.attempt_id, SHA_A, begun.started_at)
    before = await world.everything()
    assert await begin(world, dispatch) == Begun(
        "started", dispatch.run_id, dispatch.attempt_id, SHA_A, begun.started_at
    )
    assert await world.everything() == before
    taken_over = await claim_again(world, dispatch.run_id)
    assert (await begin(world, taken_over)).outcome == "started"


@pytest.mark.parametrize("fault", ["generation", "no generation", "settled", "unknown", "another kind"])
async def test_a_dispatch_that_is_not_the_callers_is_not_begun_nor_given_up(world: World, fault: str) -> None:
    dispatch = await claimed_dispatch(world)
    effect_id, generation, expected = dispatch.effect_id, dispatch.generation, "stale"
    match fault:
        case "generation":
            generation -= 1
        case "settled":
            assert await acknowledge(world, dispatch) == "applied"
        case "unknown":
            effect_id, expected = 999, "not_found"
        case "another kind":
            await world.owner.execute("UPDATE outbox SET kind = 'workflow_cancel'")
            expected = "not_found"
        case _:
            pass
    wanted = None if fault == "no generation" else generation
    before = await world.everything()
    assert await world.answer("begin_workflow_dispatch", effect_id, wanted) == expected
    for cause in ("refused", "silent", "no such cause"):
        assert await world.answer("give_up_workflow_dispatch", effect_id, wanted, cause) == expected
    if expected == "not_found":
        assert await world.answer("acknowledge_workflow_dispatch", effect_id, 77, 1) == expected
    assert await world.everything() == before


@pytest.mark.parametrize("end", ["cancelled", "superseded"])
async def test_scenario_25_a_run_that_ended_before_its_dispatch_is_not_dispatched(
    world: World, end: str
) -> None:
    dispatch = await claimed_dispatch(world)
    if end == "cancelled":
        await cancel(world, dispatch.run_id)
    else:
        await world.opened(SHA_B, minute=1)
    before = await world.everything(but=("outbox",))
    assert (await begin(world, dispatch)).outcome == "ended"
    effect = await effect_of(world, dispatch)
    assert (effect["outcome_code"], effect["started_at"], effect["settled_at"] is None) == (
        "ended",
        None,
        False,
    )
    assert (await begin(world, dispatch)).outcome == "stale"
    assert await world.everything(but=("outbox",)) == before


@pytest.mark.parametrize("found", [True, False])
async def test_scenario_25_a_started_dispatch_of_an_ended_attempt_is_due_until_it_is_found_or_given_up(
    world: World, found: bool
) -> None:
    dispatch = await claimed_dispatch(world)
    assert (await begin(world, dispatch)).outcome == "begun"
    await cancel(world, dispatch.run_id)
    assert (await begin(world, dispatch)).outcome == "started"
    assert (await effect_of(world, dispatch))["settled_at"] is None
    assert await (acknowledge(world, dispatch) if found else give_up(world, dispatch, "silent")) == "ended"
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == ([77] if found else [])
    assert (await effect_of(world, dispatch))["outcome_code"] == ("dispatched" if found else "silent")


async def test_scenario_25_a_run_that_was_superseded_before_its_claim_is_not_handed_out(world: World) -> None:
    older = await world.opened(SHA_A)
    newer = await world.opened(SHA_B, minute=1)
    assert (await world.claimed()).release_run_id == newer
    assert (await world.run(older))["status"] == "superseded"


@pytest.mark.parametrize(("answered", "stored"), [(1, 1), (None, 1), (3, 3)])
async def test_an_acknowledged_dispatch_moves_attempt_and_run(
    world: World, answered: int | None, stored: int
) -> None:
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    seq = (await world.publication(dispatch.run_id))["desired_seq"]
    assert await acknowledge(world, dispatch, 77, answered) == "applied"
    run, attempt = await world.run(dispatch.run_id), await world.attempt(dispatch.attempt_id)
    assert (run["status"], run["version"]) == ("dispatched", 1)
    assert run["due_at"] - run["updated_at"] == timedelta(minutes=30)
    assert (attempt["status"], attempt["version"]) == ("dispatched", 2)
    assert (attempt["workflow_run_id"], attempt["workflow_run_attempt"]) == (77, stored)
    assert (await world.history(dispatch.run_id))[1:] == [
        ("execution_attempt", "dispatching", "dispatched", "workflow_dispatched"),
        ("release_run", "queued", "dispatched", "workflow_dispatched"),
    ]
    effect = await effect_of(world, dispatch)
    assert (effect["outcome_code"], effect["claimed_until"], effect["settled_at"]) == (
        "dispatched",
        None,
        run["updated_at"],
    )
    told = await world.publication(dispatch.run_id)
    assert (told["payload"]["status"], told["desired_seq"]) == ("dispatched", seq + 1)
    before = await world.everything()
    assert await acknowledge(world, dispatch, 77, answered) == "existing"
    assert await world.everything() == before


async def test_an_answer_without_an_id_is_enough(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    assert await acknowledge(world, dispatch, None, None) == "applied"
    assert (await world.attempt(dispatch.attempt_id))["workflow_run_id"] is None
    assert await acknowledge(world, dispatch) == "existing"
    assert (await world.attempt(dispatch.attempt_id))["workflow_run_id"] == 77


async def test_an_answer_without_an_id_takes_nothing_from_whoever_was_bound_before(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    seen = 10, dispatch.attempt_id, 77, 1, "queued", 60
    assert await world.answer("reconcile_workflow_run", *seen) == "existing"
    assert await acknowledge(world, dispatch, None, None) == "applied"
    assert (await world.attempt(dispatch.attempt_id))["workflow_run_id"] == 77


async def test_a_second_workflow_run_of_one_attempt_is_refused_and_cancelled(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    await acknowledge(world, dispatch, 77)
    before = await world.everything(but=("outbox",))
    assert [await acknowledge(world, dispatch, 78) for _ in range(2)] == ["conflict", "conflict"]
    assert await world.everything(but=("outbox",)) == before
    (effect,) = await world.owed("workflow_cancel")
    assert (effect["workflow_run_id"], effect["release_run_id"]) == (78, dispatch.run_id)


async def test_a_workflow_run_executes_one_attempt_only(world: World) -> None:
    first = await claimed_dispatch(world, number=1)
    await acknowledge(world, first, 77)
    second = await claimed_dispatch(world, SHA_B, number=2)
    assert await acknowledge(world, second, 77) == "conflict"
    assert (await world.attempt(second.attempt_id))["workflow_run_id"] is None


async def test_an_acknowledge_after_the_end_stores_the_id_and_cancels_the_workflow_once(world: World) -> None:
    assert await report(world, await claimed_dispatch(world, SHA_B, number=2)) == "accepted"
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    await cancel(world, dispatch.run_id)
    assert await world.owed("workflow_cancel") == []
    assert [await acknowledge(world, dispatch) for _ in range(2)] == ["ended", "ended"]
    assert (await world.attempt(dispatch.attempt_id))["workflow_run_id"] == 77
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]
    assert (await effect_of(world, dispatch))["outcome_code"] == "dispatched"
    assert (await world.run(dispatch.run_id))["status"] == "cancelled"


async def test_a_refused_dispatch_fails_the_run_at_once(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    assert await give_up(world, dispatch) == "applied"
    run, attempt = await world.run(dispatch.run_id), await world.attempt(dispatch.attempt_id)
    assert (run["status"], run["reason_code"]) == ("failed", "workflow_dispatch_failed")
    assert (attempt["status"], attempt["inferred"]) == ("failed", False)
    assert (await effect_of(world, dispatch))["outcome_code"] == "refused"
    assert (await world.publication(dispatch.run_id))["payload"]["status"] == "failed"
    assert len(await world.owed("workflow_dispatch")) == 1
    before = await world.everything()
    assert await give_up(world, dispatch) == "stale"
    assert await world.everything() == before


async def test_a_silent_dispatch_is_replaced_by_a_new_attempt(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    assert await give_up(world, dispatch, "silent") == "applied"
    run = await world.run(dispatch.run_id)
    attempt = await world.attempt(run["execution_attempt_id"])
    assert (run["status"], run["version"], run["lost_attempts"]) == ("queued", 1, 1)
    assert (attempt["status"], attempt["number"], attempt["retry_id"]) == ("dispatching", 2, run["retry_id"])
    assert (await world.attempt(dispatch.attempt_id))["status"] == "stale"
    assert (await world.history(dispatch.run_id))[1:] == [
        ("execution_attempt", "dispatching", "stale", "workflow_dispatch_failed"),
        ("release_run", "queued", "queued", "workflow_dispatch_failed"),
        ("execution_attempt", "queued", "dispatching", "check_run_created"),
    ]
    rows = await world.owed("workflow_dispatch")
    assert [(row["execution_attempt_id"], row["outcome_code"]) for row in rows] == [
        (dispatch.attempt_id, "silent"),
        (attempt["id"], None),
    ]
    told = await world.publication(dispatch.run_id)
    assert (told["payload"]["execution_attempt_id"], told["desired_seq"]) == (str(attempt["id"]), 2)
    assert await acknowledge(world, dispatch, 77) == "ended"
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]


async def test_silent_dispatches_are_bounded_by_the_attempts(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    run_id = dispatch.run_id
    for _ in range(2):
        assert await give_up(world, dispatch, "silent") == "applied"
        dispatch = await claim_again(world, run_id)
    assert await give_up(world, dispatch, "silent") == "applied"
    run, attempt = await world.run(run_id), await world.attempt(dispatch.attempt_id)
    assert (run["status"], run["reason_code"], run["lost_attempts"]) == (
        "failed",
        "runner_attempts_exhausted",
        3,
    )
    assert (attempt["status"], attempt["number"], attempt["inferred"]) == ("failed", 3, True)


@pytest.mark.parametrize("cause", ["", "lost", None])
async def test_an_unknown_cause_is_invalid(world: World, cause: str | None) -> None:
    dispatch = await claimed_dispatch(world)
    before = await world.everything()
    arguments = (dispatch.effect_id, dispatch.generation, cause)
    assert await world.answer("give_up_workflow_dispatch", *arguments) == "invalid"
    await cancel(world, dispatch.run_id)
    after_cancel = await world.everything()
    assert await world.answer("give_up_workflow_dispatch", *arguments) == "invalid"
    assert await world.everything() == after_cancel != before


@pytest.mark.parametrize("cause", ["refused", "silent"])
async def test_giving_up_after_the_end_settles_the_effect_alone(
    world: World, cause: Literal["refused", "silent"]
) -> None:
    dispatch = await claimed_dispatch(world)
    await cancel(world, dispatch.run_id)
    before = await world.everything(but=("outbox",))
    assert await give_up(world, dispatch, cause) == "ended"
    assert (await effect_of(world, dispatch))["outcome_code"] == cause
    assert await world.everything(but=("outbox",)) == before
