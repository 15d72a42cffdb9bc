"""Revocation: a registration is void at once, and so is every lease it holds."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from boardreadyops.db.runners import revoke_runner
from tests.sql.conftest import World
from tests.sql.test_runner_leases import beat, claim


async def revoke(world: World, registration_id: UUID) -> str:
    async with world.app.transaction() as connection:
        return await revoke_runner(connection, registration_id=registration_id)


async def test_an_idle_runner_is_void_from_now_on(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner()
    before = await world.everything(but=("runner_registrations",))
    assert await revoke(world, runner) == "applied"
    assert await world.everything(but=("runner_registrations",)) == before
    assert await world.owner.fetchval("SELECT revoked_at IS NOT NULL FROM runner_registrations")
    assert (await claim(world, runner, uuid4())).outcome == "revoked"
    assert (await world.run(run_id))["status"] == "queued"


async def test_again_it_answers_existing_and_an_unknown_one_is_not_found(world: World) -> None:
    runner = await world.runner()
    await revoke(world, runner)
    before = await world.everything()
    assert await revoke(world, runner) == "existing"
    assert await revoke(world, uuid4()) == "not_found"
    assert await world.everything() == before


async def test_its_lease_ends_at_once_as_a_lost_attempt(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner()
    grant = await world.claimed(runner)
    seq = (await world.publication(run_id))["desired_seq"]
    assert await revoke(world, runner) == "applied"
    run, attempt = await world.run(run_id), await world.attempt(grant.execution_attempt_id)
    assert (run["status"], run["version"], run["lost_attempts"]) == ("queued", 2, 1)
    assert run["queued_at"] == run["updated_at"]
    assert (attempt["status"], attempt["version"]) == ("stale", 1)
    assert (await world.history(run_id))[1:] == [
        ("execution_attempt", "in_progress", "stale", "runner_lease_revoked"),
        ("release_run", "running", "queued", "runner_lease_revoked"),
    ]
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "revoked"
    told = await world.publication(run_id)
    assert (told["payload"]["status"], told["desired_seq"]) == ("queued", seq + 1)
    answer = await beat(world, grant.lease_id, "running")
    assert (answer.lease_state, answer.directive, answer.reason) == (
        "revoked",
        "stop",
        "runner_lease_revoked",
    )
    assert (await world.report(grant)).outcome == "late"


async def test_at_the_bound_the_run_fails(world: World) -> None:
    await world.owner.execute("UPDATE deployment_settings SET max_execution_attempts = 1")
    run_id = await world.opened()
    runner = await world.runner()
    await world.claimed(runner)
    await revoke(world, runner)
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"]) == ("failed", "runner_attempts_exhausted")


@pytest.mark.parametrize("held", [1, 3])
async def test_every_lease_it_holds_ends_and_no_other(world: World, held: int) -> None:
    for number in range(1, held + 2):
        await world.opened(number=number)
    runner, other = await world.runner(), await world.runner(name="bench-2")
    mine = [await world.claimed(runner) for _ in range(held)]
    theirs = await world.claimed(other)
    await revoke(world, runner)
    rows = await world.owner.fetch("SELECT id, state FROM runner_leases")
    states = {row["id"]: row["state"] for row in rows}
    assert states == {**{grant.lease_id: "revoked" for grant in mine}, theirs.lease_id: "active"}
    assert (await world.run(theirs.release_run_id))["status"] == "running"


async def test_a_finished_run_of_a_revoked_runner_stays_as_it_is(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner()
    await world.report(await world.claimed(runner))
    before = await world.run(run_id)
    await revoke(world, runner)
    assert await world.run(run_id) == before
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "completed"
