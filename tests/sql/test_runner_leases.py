"""Claim, heartbeat and registration of runners."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

from boardreadyops.db.leases import Heartbeat, LeaseClaim, claim_runner_lease, heartbeat_runner_lease
from tests.sql.conftest import SHA_B, World


async def beat(world: World, lease_id: UUID, stage: str, *, progress: int = 5) -> Heartbeat:
    async with world.app.transaction() as connection:
        answer = await heartbeat_runner_lease(
            connection, lease_id=lease_id, stage=stage, progress=progress, message="…"
        )
    assert answer is not None
    return answer


async def claim(world: World, runner: UUID, request_id: UUID) -> LeaseClaim:
    async with world.app.transaction() as connection:
        return await claim_runner_lease(
            connection, registration_id=runner, request_id=request_id, capabilities=()
        )


async def test_a_claim_binds_a_new_attempt_and_the_runs_snapshot(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    run, attempt = await world.run(run_id), await world.attempt(grant.execution_attempt_id)
    assert (run["status"], run["version"], run["execution_attempt_id"]) == ("running", 1, attempt["id"])
    assert (attempt["status"], attempt["version"], attempt["number"]) == ("in_progress", 0, 1)
    assert await world.history(run_id) == [("release_run", "queued", "running", "runner_lease_claimed")]
    assert (await world.publication(run_id))["payload"]["stage"] == "claimed"
    assert (grant.lease_seconds, grant.expires_in_seconds <= 120) == (120, True)


async def test_the_same_request_gets_the_same_lease_and_later_hears_that_it_ended(world: World) -> None:
    await world.opened()
    runner, request_id = await world.runner(), uuid4()
    first = await claim(world, runner, request_id)
    assert await claim(world, runner, request_id) == LeaseClaim("existing", first.lease_id)
    await world.opened(SHA_B, minute=1)
    assert await claim(world, runner, request_id) == LeaseClaim("ended", first.lease_id)


async def test_two_runners_never_get_the_same_run(world: World) -> None:
    await world.opened()
    runners = [await world.runner(name=f"bench-{number}") for number in range(4)]
    claims = await asyncio.gather(*(claim(world, runner, uuid4()) for runner in runners))
    assert sorted(answer.outcome for answer in claims) == ["created", "none", "none", "none"]


async def test_runs_are_claimed_in_the_order_they_were_queued(world: World) -> None:
    runs = [await world.opened(number=number) for number in range(1, 4)]
    runner = await world.runner()
    assert [(await world.claimed(runner)).release_run_id for _ in runs] == runs


async def test_a_runner_of_one_installation_is_not_handed_anothers_run(world: World) -> None:
    await world.opened()
    await world.owner.execute("INSERT INTO installations (id, account_login) VALUES (2, 'other')")
    runner = await world.runner(installation_id=2)
    assert (await claim(world, runner, uuid4())).outcome == "none"


async def test_a_revoked_or_unknown_runner_is_refused(world: World) -> None:
    await world.opened()
    runner = await world.runner()
    await world.owner.execute("UPDATE runner_registrations SET revoked_at = now()")
    assert (await claim(world, runner, uuid4())).outcome == "revoked"
    assert (await claim(world, uuid4(), uuid4())).outcome == "revoked"


async def test_scenario_22_a_repeated_heartbeat_of_the_same_stage_leaves_no_trace(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await beat(world, grant.lease_id, "running")
    before, publication = await world.run(run_id), await world.publication(run_id)
    for progress in (10, 20):
        answer = await beat(world, grant.lease_id, "running", progress=progress)
        assert (answer.lease_state, answer.directive, answer.reason) == ("active", "continue", None)
    assert await world.run(run_id) == before
    assert await world.publication(run_id) == publication
    assert await world.count("release_run_transition_events") == 1
    assert await world.owner.fetchval("SELECT progress FROM runner_leases") == 20


async def test_a_later_stage_moves_the_attempt_once(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    for stage in ("preparing_source", "running", "uploading_artifacts", "uploading_artifacts", "reporting"):
        await beat(world, grant.lease_id, stage)
    attempt = await world.attempt(grant.execution_attempt_id)
    assert (attempt["status"], attempt["version"]) == ("reporting", 2)
    assert (await world.history(run_id))[1:] == [
        ("execution_attempt", "in_progress", "uploading_artifacts", "runner_lease_heartbeat"),
        ("execution_attempt", "uploading_artifacts", "reporting", "runner_lease_heartbeat"),
    ]
    assert (await world.publication(run_id))["payload"]["stage"] == "reporting"


async def test_an_earlier_stage_is_ignored(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await beat(world, grant.lease_id, "reporting")
    assert (await beat(world, grant.lease_id, "running")).directive == "continue"
    assert await world.owner.fetchval("SELECT stage FROM runner_leases") == "reporting"


async def test_a_heartbeat_extends_the_lease_but_never_beyond_the_run_deadline(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    due_at = (await world.run(run_id))["due_at"]
    await world.owner.execute("UPDATE runner_leases SET expires_at = $1", due_at - timedelta(seconds=1))
    row = await world.owner.fetchrow(
        "SELECT * FROM boardreadyops_heartbeat_runner_lease($1, 'running', 1, '', $2)",
        grant.lease_id,
        due_at - timedelta(seconds=10),
    )
    assert row is not None
    assert (row["directive"], row["expires_in_seconds"], row["maximum_expires_in_seconds"]) == (
        "continue",
        10,
        10,
    )


async def test_an_overdue_lease_that_no_sweep_took_is_still_its_runners_own(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await world.owner.execute("UPDATE runner_leases SET expires_at = claimed_at")
    answer = await beat(world, grant.lease_id, "running")
    assert (answer.lease_state, answer.directive, answer.expires_in_seconds) == ("active", "continue", 120)


async def test_a_lease_at_its_maximum_is_told_to_stop(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await world.owner.execute(
        "UPDATE runner_leases SET expires_at = claimed_at, maximum_expires_at = claimed_at"
    )
    answer = await beat(world, grant.lease_id, "running")
    assert (answer.lease_state, answer.directive, answer.maximum_expires_in_seconds) == ("expired", "stop", 0)
    assert await world.owner.fetchval("SELECT stage FROM runner_leases") == "claimed"


async def test_an_ended_lease_is_told_to_stop_and_why(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await world.opened(SHA_B, minute=1)
    answer = await beat(world, grant.lease_id, "running")
    assert (answer.lease_state, answer.directive, answer.reason) == ("superseded", "stop", "newer_commit")


async def test_an_unknown_lease_has_no_answer(world: World) -> None:
    async with world.app.transaction() as connection:
        assert (
            await heartbeat_runner_lease(
                connection, lease_id=uuid4(), stage="running", progress=0, message=""
            )
            is None
        )
