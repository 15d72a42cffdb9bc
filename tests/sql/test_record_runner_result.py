"""Results: accepted once, replayed, late, in conflict; a decision never turns."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from tests.sql.conftest import SHA_A, SHA_B, World, observation
from tests.sql.test_cancel_release_run import cancel


@pytest.mark.parametrize(
    ("status", "decision"),
    [("completed", "pass"), ("completed", "fail"), ("failed", "error"), ("timed_out", "error")],
)
async def test_an_accepted_result_ends_run_attempt_and_lease(
    world: World, status: str, decision: str
) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    answer = await world.report(grant, status, decision)
    assert (answer.outcome, answer.audit_id) == ("accepted", None)
    run = await world.run(run_id)
    assert (run["status"], run["decision"], run["version"]) == (status, decision, 2)
    assert (await world.attempt(grant.execution_attempt_id))["status"] == status
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == status
    assert (await world.history(run_id))[-1] == ("release_run", "running", status, f"runner_result_{status}")


@pytest.mark.parametrize(
    ("status", "decision"),
    [
        ("completed", "error"),
        ("failed", "pass"),
        ("timed_out", "fail"),
        ("cancelled", "error"),
        ("", ""),
        (None, None),
    ],
)
async def test_status_and_decision_that_do_not_go_together_change_nothing(
    world: World, status: Any, decision: Any
) -> None:
    await world.opened()
    grant = await world.claimed()
    before = await world.everything()
    assert (await world.report(grant, status, decision)).outcome == "invalid_transition"
    assert await world.everything() == before


async def test_scenario_32_the_same_bytes_are_replayed_and_other_bytes_conflict(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await world.report(grant, body=b"one")
    before = await world.everything(but=("runner_result_audit",))
    assert (await world.report(grant, body=b"one")).outcome == "replayed"
    conflict = await world.report(grant, "completed", "fail", body=b"two")
    assert conflict.outcome == "conflict"
    assert await world.report(grant, "completed", "fail", body=b"two") == conflict
    assert await world.everything(but=("runner_result_audit",)) == before
    assert (await world.run(run_id))["decision"] == "pass"
    assert await world.count("runner_result_audit") == 1


async def test_scenario_31_a_late_result_from_a_superseded_run_changes_nothing(world: World) -> None:
    await world.opened(SHA_A)
    grant = await world.claimed()
    newer = await world.opened(SHA_B, minute=1)
    before = await world.everything(but=("runner_result_audit",))
    late = await world.report(grant, "completed", "pass")
    assert late.outcome == "late"
    assert late.audit_id is not None
    assert await world.everything(but=("runner_result_audit",)) == before
    assert (await world.run(newer))["decision"] is None
    audit = await world.owner.fetch("SELECT outcome, decision, registration_id FROM runner_result_audit")
    assert [tuple(row) for row in audit] == [("late", "pass", grant.registration_id)]


async def test_scenario_35_cancelled_stays_cancelled_when_the_success_arrives(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await cancel(world, run_id)
    assert (await world.report(grant)).outcome == "late"
    assert (await world.run(run_id))["status"] == "cancelled"


async def test_a_result_of_an_earlier_asking_is_late(world: World) -> None:
    await world.opened(SHA_A)
    earlier = await world.claimed()
    await world.opened(SHA_B, minute=1)
    run_id = await world.opened(SHA_A, minute=2)
    current = await world.claimed()
    assert current.release_run_id == run_id
    assert (await world.report(earlier)).outcome == "late"
    assert (await world.report(replace(current, retry_id=earlier.retry_id))).outcome == "late"
    assert (await world.report(current, "completed", "fail")).outcome == "accepted"


async def test_an_attempt_of_another_run_is_not_found(world: World) -> None:
    await world.opened(SHA_A, number=1)
    await world.opened(SHA_A, number=2)
    one, other = await world.claimed(), await world.claimed()
    assert (await world.report(replace(one, release_run_id=other.release_run_id))).outcome == "not_found"
    assert (await world.report(replace(one, execution_attempt_id=uuid4()))).outcome == "not_found"


async def test_scenario_17_a_result_and_a_supersession_at_once_have_one_winner(world: World) -> None:
    for minute in range(0, 20, 2):
        run_id = await world.opened(f"{minute:040x}", minute=minute)
        grant = await world.claimed()
        answer, _ = await asyncio.gather(
            world.report(grant), world.enqueue(observation(f"{minute + 1:040x}", minute=minute + 1))
        )
        run = await world.run(run_id)
        assert (answer.outcome, run["status"], run["decision"]) in {
            ("accepted", "completed", "pass"),
            ("late", "superseded", None),
        }
        assert (await world.publication(run_id))["payload"]["status"] == run["status"]
        successor = await world.claimed()
        await world.report(successor)


async def test_an_inferred_failure_is_corrected_by_the_genuine_result_once(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await world.owner.fetch(
        "SELECT boardreadyops_end_release_run(run, 'failed', 'runner_attempts_exhausted', now())"
        " FROM release_runs AS run"
    )
    await world.owner.execute("UPDATE release_run_attempts SET inferred = true")
    assert (await world.report(grant, "completed", "pass", body=b"late but true")).outcome == "accepted"
    run = await world.run(run_id)
    assert (run["status"], run["decision"], run["reason_code"]) == (
        "completed",
        "pass",
        "runner_result_corrected",
    )
    assert (await world.report(grant, "completed", "fail", body=b"second")).outcome == "conflict"


async def test_a_result_for_an_attempt_that_was_not_dispatched_yet_is_late(world: World) -> None:
    await world.execute_by("actions")
    run = await world.run(await world.opened())
    key = run["id"], run["execution_attempt_id"], run["retry_id"], None, b"\1" * 32, "completed", "pass"
    before = await world.everything(but=("runner_result_audit",))
    assert await world.answer("record_runner_result", *key, "", 0, 0, {}) == "late"
    assert await world.everything(but=("runner_result_audit",)) == before
    await world.published()
    assert await world.answer("record_runner_result", *key, "", 0, 0, {}) == "accepted"


async def test_a_result_of_an_attempt_that_its_run_does_not_point_to_is_late(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await world.owner.execute("UPDATE release_runs SET execution_attempt_id = NULL")
    before = await world.run(run_id)
    assert (await world.report(grant)).outcome == "late"
    assert await world.run(run_id) == before
    await world.owner.execute("UPDATE release_runs SET execution_attempt_id = $1", grant.execution_attempt_id)
