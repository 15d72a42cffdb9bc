"""What a claim gives: whose request it is, the attempt's number, how long the lease lasts; and what a stage may move."""

from __future__ import annotations

import hashlib
from uuid import uuid4

from tests.sql.conftest import SHA_B, World
from tests.sql.test_runner_leases import beat, claim


async def test_a_request_is_its_own_runners_alone(world: World) -> None:
    await world.opened(number=1)
    await world.opened(SHA_B, number=2)
    request_id = uuid4()
    first = await claim(world, await world.runner(), request_id)
    second = await claim(world, await world.runner(name="bench-2"), request_id)
    assert (first.outcome, second.outcome) == ("created", "created")
    assert first.lease_id != second.lease_id


async def test_attempts_are_numbered_by_run(world: World) -> None:
    await world.opened(number=1)
    await world.opened(SHA_B, number=2)
    runner = await world.runner()
    grants = [await world.claimed(runner) for _ in range(2)]
    numbers = [(await world.attempt(grant.execution_attempt_id))["number"] for grant in grants]
    assert numbers == [1, 1]


async def test_a_lease_ends_no_later_than_its_run(world: World) -> None:
    await world.owner.execute("UPDATE installations SET run_timeout_seconds = 60")
    run_id = await world.opened()
    await world.claimed()
    due_at = (await world.run(run_id))["due_at"]
    row = await world.owner.fetchrow("SELECT expires_at, maximum_expires_at FROM runner_leases")
    assert row is not None
    assert tuple(row) == (due_at, due_at)


async def test_a_stage_that_the_attempt_was_moved_to_before_moves_it_no_more(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    key = run_id, "running", 1, grant.execution_attempt_id, None, "moved_by_hand", None
    moved = await world.answer("transition_release_run_state", *key, "in_progress", 0, "reporting")
    assert moved == "applied"
    before = await world.history(run_id)
    await beat(world, grant.lease_id, "reporting")
    assert await world.owner.fetchval("SELECT stage FROM runner_leases") == "reporting"
    assert await world.history(run_id) == before


async def test_a_lease_whose_run_points_elsewhere_advances_no_stage(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    point = "UPDATE release_runs SET execution_attempt_id = $1 WHERE id = $2"
    await world.owner.execute(point, None, run_id)
    await beat(world, grant.lease_id, "reporting")
    assert await world.owner.fetchval("SELECT stage FROM runner_leases") == "claimed"
    await world.owner.execute(point, grant.execution_attempt_id, run_id)


async def test_a_late_result_is_on_record_for_each_attempt_of_a_run(world: World) -> None:
    await world.opened()
    runner = await world.runner()
    audits = []
    for _ in range(2):
        grant = await world.claimed(runner)
        await world.call("relinquish_runner_lease", grant.lease_id, "job_error", "", [])
        await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
        audits.append((await world.report(grant, body=b"same")).audit_id)
    assert len(set(audits)) == 2


async def test_a_result_that_was_late_first_and_contradicts_later_is_on_record_twice(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    rest: tuple[object, ...] = hashlib.sha256(b"other").digest(), "failed", "error", "", 0, 0, {}
    outcomes = []
    for retry_id in (uuid4(), None, grant.retry_id):
        if retry_id is None:
            assert (await world.report(grant)).outcome == "accepted"
            continue
        key = grant.release_run_id, grant.execution_attempt_id, retry_id, grant.registration_id
        outcomes.append(await world.answer("record_runner_result", *key, *rest))
    assert outcomes == ["late", "conflict"]
    assert await world.count("runner_result_audit") == 2


async def test_the_same_request_again_is_the_same_lease_while_it_lives(world: World) -> None:
    await world.opened()
    runner, request = await world.runner(), uuid4()
    now = await world.owner.fetchval("SELECT now() + interval '1 hour'")
    (first,) = await world.call("claim_runner_lease", runner, request, [], now)
    assert first["claim_outcome"] == "created"
    assert await world.owner.fetchval("SELECT updated_at FROM release_runs") == now
    assert await world.owner.fetchval("SELECT claimed_at FROM runner_leases") == now
    (again,) = await world.call("claim_runner_lease", runner, request, [])
    assert tuple(again) == ("existing", first["lease_id"])
    await world.answer("relinquish_runner_lease", first["lease_id"], "shutdown", "", [])
    (ended,) = await world.call("claim_runner_lease", runner, request, [])
    assert tuple(ended) == ("ended", first["lease_id"])
