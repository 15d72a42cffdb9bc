"""Cancellation: by a person, by a closed pull request, by a lost installation."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from boardreadyops.db.runs import Cancelled, cancel_installation_runs, cancel_release_run
from tests.sql.conftest import SHA_A, SHA_B, World, observation


async def cancel(
    world: World, run_id: UUID, *, installation_id: int = 1, reason: str = "cancelled_by_user"
) -> Cancelled:
    async with world.app.transaction() as connection:
        return await cancel_release_run(
            connection,
            installation_id=installation_id,
            release_run_id=run_id,
            reason_code=reason,
            cancelled_by="mira",
        )


async def test_a_running_run_ends_with_its_attempt_and_lease(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    assert (await cancel(world, run_id)).outcome == "applied"
    run = await world.run(run_id)
    assert (run["status"], run["cancelled_by"], run["due_at"]) == ("cancelled", "mira", None)
    assert (await world.attempt(grant.execution_attempt_id))["status"] == "cancelled"
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "cancelled"
    assert (await world.publication(run_id))["payload"]["cancelled_by"] == "mira"


async def test_again_it_answers_existing_and_writes_nothing(world: World) -> None:
    run_id = await world.opened()
    await cancel(world, run_id)
    before = await world.everything()
    assert (await cancel(world, run_id)).outcome == "existing"
    assert await world.everything() == before


async def test_a_decided_run_is_not_cancelled(world: World) -> None:
    run_id = await world.opened()
    await world.report(await world.claimed())
    before = await world.everything()
    assert (await cancel(world, run_id)).outcome == "terminal"
    assert await world.everything() == before


@pytest.mark.parametrize("installation_id", [1, 2])
async def test_an_unknown_run_or_another_tenants_is_not_found(world: World, installation_id: int) -> None:
    run_id = await world.opened()
    wanted = uuid4() if installation_id == 1 else run_id
    before = await world.everything()
    assert await cancel(world, wanted, installation_id=installation_id) == Cancelled("not_found", None, None)
    assert await world.everything() == before


@pytest.mark.parametrize("reason", ["", "Has Space", "UPPER", "trailing-", "x" * 129])
async def test_a_malformed_reason_is_an_invalid_transition(world: World, reason: str) -> None:
    run_id = await world.opened()
    before = await world.everything()
    assert (await cancel(world, run_id, reason=reason)).outcome == "invalid_transition"
    assert await world.everything() == before


async def test_scenario_09_a_closed_pull_request_cancels_and_a_reopened_one_is_checked_again(
    world: World,
) -> None:
    run_id = await world.opened(SHA_A)
    closed = await world.close(observation(SHA_A, minute=1))
    assert (closed.outcome, closed.cancelled_run_ids) == ("closed", (run_id,))
    assert (await world.run(run_id))["reason_code"] == "pull_request_closed"
    assert await world.opened(SHA_A, minute=2) == run_id
    run = await world.run(run_id)
    assert (run["status"], run["retry_number"], run["reason_code"]) == ("queued", 1, "head_returned")


async def test_a_late_close_changes_nothing_and_asks_github(world: World) -> None:
    run_id = await world.opened(SHA_B, minute=5)
    closed = await world.close(observation(SHA_A, minute=1))
    assert (closed.outcome, closed.cancelled_run_ids) == ("older", ())
    assert (await world.run(run_id))["status"] == "queued"
    assert await world.count("outbox") == 1


async def test_what_a_person_cancelled_stays_cancelled_when_the_event_comes_again(world: World) -> None:
    run_id = await world.opened()
    await cancel(world, run_id)
    assert await world.opened(minute=1) == run_id
    assert (await world.run(run_id))["status"] == "cancelled"


async def test_a_lost_installation_ends_its_open_runs_in_batches(world: World) -> None:
    for number in range(1, 4):
        await world.opened(number=number)
    counts = []
    for _ in range(2):
        async with world.app.transaction() as connection:
            counts.append(
                await cancel_installation_runs(
                    connection, installation_id=1, reason_code="installation_removed", limit=2
                )
            )
    assert counts == [2, 1]
    assert await world.owner.fetchval("SELECT count(*) FROM release_runs WHERE status = 'cancelled'") == 3
