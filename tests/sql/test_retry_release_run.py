"""Retries: a terminal run is asked anew on someone's word, once per look at it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.runs import Retried, retry_release_run
from tests.sql.conftest import SHA_A, SHA_B, World, observation
from tests.sql.test_cancel_release_run import cancel


async def retry(world: World, run_id: UUID, expected: int = 0, *, installation_id: int = 1) -> Retried:
    async with world.app.transaction() as connection:
        return await retry_release_run(
            connection,
            installation_id=installation_id,
            release_run_id=run_id,
            expected_retry_number=expected,
        )


async def refused(
    world: World, run_id: UUID, outcome: str, expected: int = 0, *, installation_id: int = 1
) -> Retried:
    """Retry, see that the answer is this outcome and that nothing was written."""
    before = await world.everything()
    answer = await retry(world, run_id, expected, installation_id=installation_id)
    assert answer.outcome == outcome
    assert await world.everything() == before
    return answer


async def failed_run(world: World) -> UUID:
    run_id = await world.opened()
    await world.report(await world.claimed(), "failed", "error")
    return run_id


async def test_scenario_26_a_terminal_run_is_asked_anew_with_a_check_of_its_own(world: World) -> None:
    run_id = await failed_run(world)
    before = await world.run(run_id)
    answer = await retry(world, run_id)
    run = await world.run(run_id)
    assert answer == Retried("created", run["retry_id"], 1)
    assert run["retry_id"] != before["retry_id"]
    assert (run["status"], run["version"], run["decision"], run["execution_attempt_id"]) == (
        "queued",
        before["version"] + 1,
        None,
        None,
    )
    assert (run["lost_attempts"], run["given_back"], run["finished_at"]) == (0, 0, None)
    assert run["queued_at"] == run["updated_at"] > before["queued_at"]
    assert run["due_at"] > run["queued_at"]
    assert (await world.history(run_id))[-1] == ("release_run", "failed", "queued", "retry_requested")
    told, earlier = await world.publication(run_id, 1), await world.publication(run_id, 0)
    assert (told["external_id"], told["payload"]["status"], told["desired_seq"], told["check_run_id"]) == (
        f"{run_id}:1:0",
        "queued",
        1,
        None,
    )
    assert earlier["payload"]["status"] == "failed"


async def test_scenario_26_a_run_that_is_still_open_is_refused_with_the_reason(world: World) -> None:
    run_id = await world.opened()
    answer = await refused(world, run_id, "not_terminal")
    assert answer.retry_number == 0
    await world.claimed()
    await refused(world, run_id, "not_terminal")


@pytest.mark.parametrize("wanted", ["unknown", "another tenant's", "a disabled repository's", "suspended"])
async def test_what_the_tenant_does_not_have_is_not_found(world: World, wanted: str) -> None:
    run_id = await failed_run(world)
    if wanted == "a disabled repository's":
        await world.owner.execute("UPDATE repositories SET enabled = false")
    if wanted == "suspended":
        await world.owner.execute("UPDATE installations SET suspended = true")
    answer = await refused(
        world,
        uuid4() if wanted == "unknown" else run_id,
        "not_found",
        installation_id=2 if wanted == "another tenant's" else 1,
    )
    assert answer == Retried("not_found", None, None)


async def test_the_number_that_was_seen_decides_between_existing_and_stale(world: World) -> None:
    run_id = await failed_run(world)
    await refused(world, run_id, "stale", 1)
    await refused(world, run_id, "existing", -1)
    created = await retry(world, run_id)
    assert await refused(world, run_id, "existing") == replace(created, outcome="existing")
    assert await refused(world, run_id, "stale", 2) == replace(created, outcome="stale")
    await refused(world, run_id, "stale", -1)


async def test_a_retry_that_names_no_number_is_stale(world: World) -> None:
    run_id = await failed_run(world)
    before = await world.everything()
    assert await world.answer("retry_release_run", 1, run_id, None) == "stale"
    assert await world.everything() == before


async def test_scenario_27_two_people_press_re_run_at_once_and_it_is_asked_once(world: World) -> None:
    run_id = await failed_run(world)
    answers = await asyncio.gather(*(retry(world, run_id) for _ in range(4)))
    assert sorted(answer.outcome for answer in answers) == ["created", *["existing"] * 3]
    assert {(answer.retry_id, answer.retry_number) for answer in answers} == {
        ((await world.run(run_id))["retry_id"], 1)
    }


async def test_scenario_27_a_click_delivered_again_after_a_fast_failure_retries_once(world: World) -> None:
    run_id = await failed_run(world)
    created = await retry(world, run_id)
    await world.report(await world.claimed(), "failed", "error", body=b"again")
    assert await refused(world, run_id, "existing") == replace(created, outcome="existing")
    assert (await retry(world, run_id, 1)).retry_number == 2


async def test_scenario_28_an_old_commit_is_refused_while_a_newer_run_is_active(world: World) -> None:
    older = await world.opened(SHA_A)
    newer = await world.opened(SHA_B, minute=1)
    await refused(world, older, "superseded")
    assert (await world.run(newer))["status"] == "queued"


async def test_a_run_of_a_closed_ref_is_refused(world: World) -> None:
    run_id = await failed_run(world)
    await world.close(observation(minute=1))
    await refused(world, run_id, "superseded")


async def test_a_stale_number_is_told_before_the_ref_and_the_ref_before_the_state(world: World) -> None:
    older = await world.opened(SHA_A)
    await world.opened(SHA_B, minute=1)
    await refused(world, older, "stale", 5)
    closed = await world.opened(number=2)
    await world.owner.execute("UPDATE refs SET open = false WHERE pull_request_number = 2")
    await refused(world, closed, "superseded")


@pytest.mark.parametrize("end", ["cancelled", "timed_out", "completed"])
async def test_every_terminal_state_can_be_asked_again(world: World, end: str) -> None:
    run_id = await world.opened()
    if end == "cancelled":
        await cancel(world, run_id)
    elif end == "completed":
        await world.report(await world.claimed(), "completed", "fail")
    else:
        await world.call("sweep_deadlines", 10, run_id, (await world.run(run_id))["due_at"])
    assert (await world.run(run_id))["status"] == end
    assert (await retry(world, run_id)).outcome == "created"
    run = await world.run(run_id)
    assert (run["status"], run["decision"], run["cancelled_by"]) == ("queued", None, None)


async def test_an_actions_run_is_asked_with_a_planned_attempt(world: World) -> None:
    await world.execute_by("actions")
    run_id = await world.opened()
    first = (await world.run(run_id))["execution_attempt_id"]
    await cancel(world, run_id)
    assert (await retry(world, run_id)).outcome == "created"
    run = await world.run(run_id)
    attempt = await world.attempt(run["execution_attempt_id"])
    assert attempt["id"] != first
    assert (attempt["status"], attempt["version"], attempt["number"], attempt["retry_id"]) == (
        "queued",
        0,
        2,
        run["retry_id"],
    )


async def test_a_retry_keeps_the_approval_and_never_raises_trust(world: World) -> None:
    enqueued = await world.enqueue(replace(observation(), trust_mode="fork"))
    assert enqueued.release_run_id is not None
    await cancel(world, enqueued.release_run_id)
    await retry(world, enqueued.release_run_id)
    run = await world.run(enqueued.release_run_id)
    assert (run["approval"], run["trust_mode"], (run["due_at"] - run["queued_at"]).days) == (
        "waiting",
        "fork",
        7,
    )


async def test_a_history_that_begins_again_never_goes_back_in_time(world: World) -> None:
    run_id = await failed_run(world)
    finished_at = (await world.run(run_id))["finished_at"]
    await world.call("retry_release_run", 1, run_id, 0, finished_at.replace(year=2001))
    assert (await world.run(run_id))["updated_at"] == finished_at
