"""Giving a run back: which reasons cost an attempt, which wait, and where it ends."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.leases import RelinquishOutcome, relinquish_runner_lease
from tests.sql.conftest import World
from tests.sql.test_cancel_release_run import cancel
from tests.sql.test_expire_runner_leases import lost
from tests.sql.test_runner_leases import claim


async def relinquish(
    world: World, lease_id: UUID, reason: str = "shutdown", *, needs: tuple[str, ...] = (), message: str = ""
) -> RelinquishOutcome:
    async with world.app.transaction() as connection:
        return await relinquish_runner_lease(
            connection, lease_id=lease_id, reason=reason, message=message, needs=needs
        )


async def refused(world: World, lease_id: UUID, outcome: str, reason: str = "shutdown") -> None:
    before = await world.everything()
    assert await relinquish(world, lease_id, reason) == outcome
    assert await world.everything() == before


@pytest.mark.parametrize(
    ("reason", "attempt_status", "lost_attempts", "given_back", "delay_seconds"),
    [("shutdown", "stale", 0, 1, 2), ("capacity", "stale", 0, 1, 2), ("operator", "stale", 0, 1, 2),
     ("capability", "stale", 0, 1, 2), ("job_error", "failed", 1, 0, 0)],
)  # fmt: skip
async def test_the_run_goes_back_to_the_queue_at_the_cost_of_its_reason(
    world: World, reason: str, attempt_status: str, lost_attempts: int, given_back: int, delay_seconds: int
) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    seq = (await world.publication(run_id))["desired_seq"]
    assert await relinquish(world, grant.lease_id, reason, message="why") == "accepted"
    run, attempt = await world.run(run_id), await world.attempt(grant.execution_attempt_id)
    assert (run["status"], run["version"], run["lost_attempts"], run["given_back"]) == (
        "queued",
        2,
        lost_attempts,
        given_back,
    )
    assert run["queued_at"] - run["updated_at"] == timedelta(seconds=delay_seconds)
    assert run["due_at"] - run["updated_at"] == timedelta(hours=6)
    assert (attempt["status"], attempt["version"], attempt["inferred"]) == (attempt_status, 1, False)
    assert (await world.history(run_id))[1:] == [
        ("execution_attempt", "in_progress", attempt_status, "runner_lease_relinquished"),
        ("release_run", "running", "queued", "runner_lease_relinquished"),
    ]
    lease = await world.owner.fetchrow("SELECT state, message, ended_at FROM runner_leases")
    assert lease is not None
    assert tuple(lease) == ("relinquished", "why", run["updated_at"])
    told = await world.publication(run_id)
    assert (told["payload"]["status"], told["desired_seq"]) == ("queued", seq + 1)


async def test_an_unknown_lease_is_not_found(world: World) -> None:
    await world.opened()
    await refused(world, uuid4(), "not_found")


async def test_again_it_answers_replayed_also_with_another_reason(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await relinquish(world, grant.lease_id)
    for reason in ("shutdown", "job_error", "no such reason"):
        await refused(world, grant.lease_id, "replayed", reason)


@pytest.mark.parametrize("end", ["completed", "cancelled", "expired"])
async def test_a_lease_that_is_over_is_stale(world: World, end: str) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    match end:
        case "completed":
            await world.report(grant)
        case "cancelled":
            await cancel(world, run_id)
        case _:
            await lost(world, grant)
    await refused(world, grant.lease_id, "stale")
    await refused(world, grant.lease_id, "stale", "no such reason")


@pytest.mark.parametrize("reason", ["", "job-error", "SHUTDOWN"])
async def test_an_unknown_reason_is_invalid(world: World, reason: str) -> None:
    await world.opened()
    grant = await world.claimed()
    await refused(world, grant.lease_id, "invalid", reason)
    before = await world.everything()
    assert await world.answer("relinquish_runner_lease", grant.lease_id, None, "", []) == "invalid"
    assert await world.everything() == before


async def test_the_waits_double_up_to_a_minute_and_end_after_twenty(world: World) -> None:
    run_id = await world.opened()
    runner, waits, run = await world.runner(), [], await world.run(run_id)
    for _ in range(19):
        grant = await world.claimed(runner)
        await relinquish(world, grant.lease_id)
        run = await world.run(run_id)
        waits.append((run["queued_at"] - run["updated_at"]).total_seconds())
        assert (await claim(world, runner, uuid4())).outcome == "none"
        await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    assert waits == [2, 4, 8, 16, 32, *[60] * 14]
    assert (run["status"], run["lost_attempts"]) == ("queued", 0)
    grant = await world.claimed(runner)
    assert await relinquish(world, grant.lease_id) == "accepted"
    run, attempt = await world.run(run_id), await world.attempt(grant.execution_attempt_id)
    assert (run["status"], run["reason_code"], run["given_back"]) == (
        "failed",
        "runner_attempts_exhausted",
        20,
    )
    assert (attempt["status"], attempt["inferred"]) == ("failed", True)
    assert await world.owner.fetchval("SELECT state FROM runner_leases WHERE id = $1", grant.lease_id) == (
        "relinquished"
    )


async def test_job_errors_and_lost_leases_count_to_one_bound(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner()
    await relinquish(world, (await world.claimed(runner)).lease_id, "job_error")
    assert await lost(world, await world.claimed(runner)) == "requeued"
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    await relinquish(world, (await world.claimed(runner)).lease_id, "job_error")
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"], run["lost_attempts"]) == (
        "failed",
        "runner_attempts_exhausted",
        3,
    )


async def test_what_was_missing_is_kept_and_decides_who_gets_the_run(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner()
    needs = ("kicad>=10", "arch=x86_64", "kicad>=10")
    await relinquish(world, (await world.claimed(runner)).lease_id, "capability", needs=needs)
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    assert (await world.run(run_id))["needs"] == ["arch=x86_64", "kicad>=10"]
    asked = "SELECT claim_outcome FROM boardreadyops_claim_runner_lease($1, gen_random_uuid(), $2)"
    offers: tuple[list[str], ...] = (
        ["kicad=9.0.8", "arch=x86_64"],
        ["kicad=10.0"],
        [],
        ["arch=x86_64", "kicad=10.0.1"],
    )
    outcomes = []
    for capabilities in offers:
        async with world.app.transaction() as connection:
            outcomes.append(await connection.fetchval(asked, runner, capabilities))
    assert outcomes == ["none", "none", "none", "created"]


async def test_needs_are_bounded_in_number_and_length(world: World) -> None:
    run_id = await world.opened()
    needs = ("x" * 500, *(f"need-{number}" for number in range(30)))
    await relinquish(world, (await world.claimed()).lease_id, "capability", needs=needs)
    stored = (await world.run(run_id))["needs"]
    assert (len(stored), max(len(need) for need in stored)) == (20, 200)


async def test_other_reasons_keep_no_needs_and_a_long_message_is_cut(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await relinquish(world, grant.lease_id, "capacity", needs=("gpu",), message="x" * 600)
    assert (await world.run(run_id))["needs"] == []
    assert await world.owner.fetchval("SELECT length(message) FROM runner_leases") == 500
