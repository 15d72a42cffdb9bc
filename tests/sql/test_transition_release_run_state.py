"""The general guarded transition: outcomes, their order, and that a refusal writes nothing."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.runs import Transition, transition_release_run_state
from boardreadyops.domain.lifecycle import ATTEMPT_EDGES, RUN_EDGES, AttemptStatus, RunStatus
from tests.sql.conftest import SHA_B, World


async def transition(world: World, run_id: UUID, **changed: Any) -> Transition:
    run = await world.owner.fetchrow("SELECT * FROM release_runs WHERE id = $1", run_id)
    wanted: dict[str, Any] = {
        "release_run_id": run_id,
        "expected_run_status": run and run["status"],
        "expected_run_version": run and run["version"],
        "expected_execution_attempt_id": run and run["execution_attempt_id"],
        "next_run_status": "dispatched",
        "reason_code": "workflow_dispatched",
        **changed,
    }
    async with world.app.transaction() as connection:
        return await transition_release_run_state(connection, **wanted)


async def test_an_applied_transition_raises_the_version_and_appends_one_event(world: World) -> None:
    run_id = await world.opened()
    answer = await transition(world, run_id)
    assert answer == Transition("applied", "dispatched", 1, None, None)
    assert await world.history(run_id) == [("release_run", "queued", "dispatched", "workflow_dispatched")]
    assert (await world.publication(run_id))["payload"]["status"] == "dispatched"
    run = await world.run(run_id)
    assert (run["due_at"] - run["updated_at"]).total_seconds() == 1800


async def test_run_and_attempt_move_together(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    answer = await transition(
        world,
        run_id,
        next_run_status="failed",
        reason_code="run_deadline_exceeded",
        expected_attempt_status="in_progress",
        expected_attempt_version=0,
        next_attempt_status="failed",
    )
    assert answer == Transition("applied", "failed", 2, "failed", 1)
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "failed"
    assert grant.release_run_id == run_id


async def test_an_attempt_that_moves_alone_advances_its_leases_snapshot(world: World) -> None:
    run_id = await world.opened()
    await world.claimed()
    answer = await transition(
        world,
        run_id,
        next_run_status=None,
        reason_code="workflow_reconciled",
        expected_attempt_status="in_progress",
        expected_attempt_version=0,
        next_attempt_status="reporting",
    )
    assert answer == Transition("applied", "running", 1, "reporting", 1)


@pytest.mark.parametrize(
    "changed",
    [{"expected_run_status": "running"}, {"expected_run_version": 7}, {"expected_run_version": None},
     {"expected_run_status": None}],
)  # fmt: skip
async def test_a_stale_expectation_writes_nothing_and_tells_what_holds(
    world: World, changed: dict[str, Any]
) -> None:
    run_id = await world.opened()
    before = await world.everything()
    assert await transition(world, run_id, **changed) == Transition("stale", "queued", 0, None, None)
    assert await world.everything() == before


async def test_a_moved_attempt_pointer_is_stale(world: World) -> None:
    run_id = await world.opened()
    await world.claimed()
    before = await world.everything()
    answer = await transition(world, run_id, expected_execution_attempt_id=None, next_run_status="failed")
    assert answer.outcome == "stale"
    answer = await transition(
        world,
        run_id,
        next_run_status="failed",
        next_attempt_status="failed",
        expected_attempt_status="in_progress",
        expected_attempt_version=3,
    )
    assert (answer.outcome, answer.attempt_version) == ("stale", 0)
    assert await world.everything() == before


@pytest.mark.parametrize(
    "expected", [{"expected_attempt_status": "reporting"}, {"expected_attempt_version": 1}]
)
async def test_an_expected_attempt_is_compared_also_when_only_the_run_moves(
    world: World, expected: dict[str, Any]
) -> None:
    run_id = await world.opened()
    await world.claimed()
    before = await world.everything()
    assert (await transition(world, run_id, next_run_status="failed", **expected)).outcome == "stale"
    assert await world.everything() == before


async def test_an_unknown_run_or_a_foreign_attempt_is_not_found(world: World) -> None:
    run_id = await world.opened(number=1)
    await world.opened(number=2)
    grant = await world.claimed()
    assert grant.release_run_id == run_id
    other = await world.claimed()
    empty = Transition("not_found", None, None, None, None)
    assert await transition(world, uuid4(), expected_execution_attempt_id=None) == empty
    assert await transition(world, run_id, expected_execution_attempt_id=other.execution_attempt_id) == empty
    assert await transition(world, run_id, expected_execution_attempt_id=uuid4()) == empty


@pytest.mark.parametrize(
    "changed",
    [{"reason_code": reason} for reason in (None, "", "Not.Lower", "a b", "-x", "x-", "a..b", "x" * 129)]
    + [{"next_run_status": status} for status in (None, "queued", "completed", "superseded", "nonsense")]
    + [{"next_attempt_status": "in_progress"}],
)
async def test_a_forbidden_edge_or_reason_is_an_invalid_transition(
    world: World, changed: dict[str, Any]
) -> None:
    run_id = await world.opened()
    before = await world.everything()
    assert (await transition(world, run_id, **changed)).outcome == "invalid_transition"
    assert await world.everything() == before


async def test_a_run_does_not_end_while_its_attempt_stays_open_nor_the_attempt_alone(world: World) -> None:
    run_id = await world.opened()
    await world.claimed()
    before = await world.everything()
    assert (await transition(world, run_id, next_run_status="failed")).outcome == "invalid_transition"
    alone = await transition(
        world,
        run_id,
        next_run_status=None,
        next_attempt_status="failed",
        expected_attempt_status="in_progress",
        expected_attempt_version=0,
    )
    assert alone.outcome == "invalid_transition"
    assert await world.everything() == before


async def test_of_two_transitions_at_once_one_is_applied_and_one_stale(world: World) -> None:
    run_id = await world.opened()

    async def move(next_run_status: str) -> Transition:
        async with world.app.transaction() as connection:
            return await transition_release_run_state(
                connection,
                release_run_id=run_id,
                expected_run_status="queued",
                expected_run_version=0,
                expected_execution_attempt_id=None,
                next_run_status=next_run_status,
                reason_code="x",
            )

    answers = await asyncio.gather(move("dispatched"), move("failed"))
    assert sorted(answer.outcome for answer in answers) == ["applied", "stale"]


async def test_history_cannot_be_rewritten_by_anyone(world: World) -> None:
    run_id = await world.opened()
    await world.opened(SHA_B, minute=1)
    for statement in (
        "UPDATE release_run_transition_events SET reason_code = 'x'",
        "DELETE FROM release_run_transition_events",
        "TRUNCATE release_run_transition_events",
    ):
        with pytest.raises(Exception, match="append-only"):
            await world.owner.execute(statement)
    assert len(await world.history(run_id)) == 1


async def test_the_edges_in_the_database_are_the_edges_in_python(world: World) -> None:
    stored = {tuple(row) for row in await world.owner.fetch("SELECT * FROM lifecycle_edges")}
    described = {("release_run", a, b) for a, targets in RUN_EDGES.items() for b in targets} | {
        ("execution_attempt", a, b) for a, targets in ATTEMPT_EDGES.items() for b in targets
    }
    assert stored == described


@pytest.mark.parametrize(
    ("domain", "enumeration"), [("run_status", RunStatus), ("attempt_status", AttemptStatus)]
)
async def test_the_states_in_the_database_are_the_states_in_python(
    world: World, domain: str, enumeration: type[RunStatus | AttemptStatus]
) -> None:
    check = await world.owner.fetchval(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contypid = $1::text::regtype", domain
    )
    assert set(re.findall(r"'([a-z_]+)'", check)) == set(enumeration)


async def test_a_lease_ends_under_the_name_of_its_run(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    arguments = (
        run_id,
        "running",
        1,
        grant.execution_attempt_id,
        "failed",
        "tidied",
        None,
        "in_progress",
        0,
        "stale",
    )
    assert await world.answer("transition_release_run_state", *arguments) == "applied"
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "failed"
