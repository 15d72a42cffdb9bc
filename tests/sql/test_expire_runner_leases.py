"""Expiry: a silent runner loses its run, within a bound, and never because of an outage of ours."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from boardreadyops.db.leases import LeaseGrant
from boardreadyops.db.pool import Record
from boardreadyops.db.sweeps import Expiry, expire_runner_leases
from tests.sql.conftest import World


async def expire(world: World, now: datetime, *, limit: int = 10, only: UUID | None = None) -> list[Expiry]:
    """Sweep leases at `now`, as sweepers do that never paused."""
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(seconds=6))
    return [Expiry(*row) for row in await world.call("expire_runner_leases", limit, only, now)]


async def lease_of(world: World, grant: LeaseGrant) -> Record:
    row = await world.owner.fetchrow("SELECT * FROM runner_leases WHERE id = $1", grant.lease_id)
    assert row is not None
    return row


async def lost(world: World, grant: LeaseGrant) -> str:
    """The runner of this lease falls silent until the lease is over."""
    (expiry,) = await expire(world, (await lease_of(world, grant))["expires_at"])
    assert expiry.lease_id == grant.lease_id
    return expiry.outcome


async def test_a_lost_lease_gives_its_run_back_to_the_queue(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    lease, seq = await lease_of(world, grant), (await world.publication(run_id))["desired_seq"]
    assert await expire(world, lease["expires_at"] - timedelta(microseconds=1)) == []
    assert await lost(world, grant) == "requeued"
    run, attempt = await world.run(run_id), await world.attempt(grant.execution_attempt_id)
    assert (run["status"], run["version"], run["lost_attempts"], run["given_back"]) == ("queued", 2, 1, 0)
    assert (run["queued_at"], run["due_at"]) == (
        lease["expires_at"],
        lease["expires_at"] + timedelta(hours=6),
    )
    assert (attempt["status"], attempt["version"], attempt["inferred"]) == ("stale", 1, False)
    assert run["execution_attempt_id"] == attempt["id"]
    assert (await world.history(run_id))[1:] == [
        ("execution_attempt", "in_progress", "stale", "runner_lease_expired"),
        ("release_run", "running", "queued", "runner_lease_expired"),
    ]
    lease = await lease_of(world, grant)
    assert (lease["state"], lease["ended_at"]) == ("expired", lease["expires_at"])
    told = await world.publication(run_id)
    assert (told["payload"]["status"], told["payload"]["stage"], told["desired_seq"]) == (
        "queued",
        None,
        seq + 1,
    )


async def test_at_the_bound_the_run_fails_and_that_is_inferred(world: World) -> None:
    await world.owner.execute("UPDATE deployment_settings SET max_execution_attempts = 1")
    run_id = await world.opened()
    grant = await world.claimed()
    assert await lost(world, grant) == "exhausted"
    run, attempt = await world.run(run_id), await world.attempt(grant.execution_attempt_id)
    assert (run["status"], run["reason_code"], run["decision"], run["due_at"]) == (
        "failed",
        "runner_attempts_exhausted",
        None,
        None,
    )
    assert (attempt["status"], attempt["inferred"]) == ("failed", True)
    assert (await lease_of(world, grant))["state"] == "expired"
    assert [event[1:] for event in (await world.history(run_id))[1:]] == [
        ("in_progress", "failed", "runner_attempts_exhausted"),
        ("running", "failed", "runner_attempts_exhausted"),
    ]


async def test_an_extended_lease_is_looked_at_later(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    first = (await lease_of(world, grant))["expires_at"]
    await world.call("heartbeat_runner_lease", grant.lease_id, "claimed", 1, "", first - timedelta(seconds=1))
    before = await world.everything(but=("runner_leases", "sweep_marks"))
    assert await expire(world, first) == [Expiry(grant.lease_id, "rearmed")]
    assert await world.everything(but=("runner_leases", "sweep_marks")) == before
    lease = await lease_of(world, grant)
    assert (lease["state"], lease["next_check_at"]) == ("active", first + timedelta(seconds=119))
    assert await expire(world, first + timedelta(seconds=118)) == []
    assert await lost(world, grant) == "requeued"


async def test_the_run_deadline_is_tested_before_the_expiry(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    lease = await lease_of(world, grant)
    maximum = lease["maximum_expires_at"]
    assert maximum == (await world.run(run_id))["due_at"]
    assert await expire(world, maximum) == [Expiry(grant.lease_id, "timed_out")]
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"], run["lost_attempts"]) == (
        "timed_out",
        "run_deadline_exceeded",
        0,
    )
    attempt = await world.attempt(grant.execution_attempt_id)
    assert (attempt["status"], attempt["inferred"]) == ("timed_out", True)
    assert (await lease_of(world, grant))["state"] == "timed_out"


async def test_an_ended_lease_is_none_of_the_sweeps_business(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await world.report(grant)
    before = await world.everything(but=("sweep_marks",))
    assert await expire(world, (await lease_of(world, grant))["maximum_expires_at"]) == []
    assert await world.everything(but=("sweep_marks",)) == before


async def test_an_ended_lease_takes_no_room_in_a_batch(world: World) -> None:
    for number in (1, 2):
        await world.opened(number=number)
    runner = await world.runner()
    ended, active = [await world.claimed(runner) for _ in (1, 2)]
    await world.report(ended)
    now = (await lease_of(world, active))["expires_at"]
    for _ in (1, 2):  # called for it, nothing happens either
        assert (
            await world.owner.fetchval(
                "SELECT boardreadyops_expire_runner_lease($1, $2)", ended.lease_id, now
            )
            is None
        )
    assert await expire(world, now, limit=1) == [Expiry(active.lease_id, "requeued")]
    assert (await lease_of(world, ended))["state"] == "completed"


async def test_a_batch_is_bounded_and_one_lease_can_be_named(world: World) -> None:
    for number in range(1, 4):
        await world.opened(number=number)
    runner = await world.runner()
    grants = [await world.claimed(runner) for _ in range(3)]
    now = (await lease_of(world, grants[2]))["expires_at"]
    assert await expire(world, now, limit=1) == [Expiry(grants[0].lease_id, "requeued")]
    assert await expire(world, now, only=grants[2].lease_id) == [Expiry(grants[2].lease_id, "requeued")]
    assert await expire(world, now) == [Expiry(grants[1].lease_id, "requeued")]


async def test_a_lease_whose_run_is_held_elsewhere_is_left_for_the_next_sweep(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    now = (await lease_of(world, grant))["expires_at"]
    async with world.owner.transaction():
        await world.owner.execute("SELECT FROM release_runs WHERE id = $1 FOR NO KEY UPDATE", run_id)
        await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(seconds=6))
        async with world.app.transaction() as connection:
            # The mark is held too, so this sweep neither waits for it nor moves it.
            assert (
                await connection.fetch("SELECT * FROM boardreadyops_expire_runner_leases(10, NULL, $1)", now)
                == []
            )
    assert await lost(world, grant) == "requeued"


async def test_nothing_due_writes_nothing(world: World) -> None:
    await world.opened()
    await world.claimed()
    await world.owner.execute("UPDATE sweep_marks SET swept_at = now()")
    before = await world.everything()
    async with world.app.transaction() as connection:
        assert await expire_runner_leases(connection, limit=10) == ()
    assert await world.everything() == before


@pytest.mark.parametrize(
    ("gap_seconds", "expected"), [(6, "requeued"), (40, "requeued"), (41, None), (7200, None)]
)
async def test_after_a_gap_of_ours_every_lease_first_gets_one_lease_length(
    world: World, gap_seconds: int, expected: str | None
) -> None:
    await world.opened()
    grant = await world.claimed()
    now = (await lease_of(world, grant))["expires_at"]
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(seconds=gap_seconds))
    swept = await world.call("expire_runner_leases", 10, None, now)
    assert [tuple(row) for row in swept] == ([] if expected is None else [(grant.lease_id, expected)])
    assert await world.owner.fetchval("SELECT swept_at FROM sweep_marks") == now
    if expected is None:
        lease = await lease_of(world, grant)
        assert lease["expires_at"] == lease["next_check_at"] == now + timedelta(seconds=120)
        assert await lost(world, grant) == "requeued"


async def test_a_lease_that_is_about_to_expire_gets_the_grace_too(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    now = (await lease_of(world, grant))["expires_at"] - timedelta(seconds=2)
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(seconds=100))
    assert await world.call("expire_runner_leases", 10, None, now) == []
    assert (await lease_of(world, grant))["expires_at"] == now + timedelta(seconds=120)


async def test_grace_never_goes_beyond_the_run_deadline_nor_shortens_a_lease(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    due_at = (await world.run(run_id))["due_at"]
    now = due_at - timedelta(seconds=30)
    await world.owner.execute("UPDATE sweep_marks SET swept_at = claimed_at FROM runner_leases")
    await world.call("expire_runner_leases", 10, None, now)
    lease = await lease_of(world, grant)
    assert lease["expires_at"] == lease["next_check_at"] == due_at
    await world.owner.execute("UPDATE deployment_settings SET lease_seconds = 3")
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(hours=1))
    await world.call("expire_runner_leases", 10, None, now)
    lease = await lease_of(world, grant)
    assert lease["expires_at"] == lease["next_check_at"] == due_at


async def test_grace_does_not_reach_beyond_the_run_deadline(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    now = (await lease_of(world, grant))["maximum_expires_at"]
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(hours=1))
    swept = await world.call("expire_runner_leases", 10, None, now)
    assert [row["expiry_outcome"] for row in swept] == ["timed_out"]
    assert await world.owner.fetchval("SELECT grace_until FROM sweep_marks") == now + timedelta(seconds=120)


async def test_grace_leaves_an_ended_lease_as_it_is(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await world.report(grant)
    before = await lease_of(world, grant)
    await world.owner.execute("UPDATE sweep_marks SET swept_at = now() - interval '1 hour'")
    await world.call("expire_runner_leases", 10)
    assert await lease_of(world, grant) == before


@pytest.mark.parametrize(("gap_seconds", "expected"), [(8, "requeued"), (10, "requeued"), (11, None)])
async def test_short_leases_make_no_gap_of_an_ordinary_pause(
    world: World, gap_seconds: int, expected: str | None
) -> None:
    await world.owner.execute("UPDATE deployment_settings SET lease_seconds = 3")
    await world.opened()
    grant = await world.claimed()
    now = (await lease_of(world, grant))["expires_at"]
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(seconds=gap_seconds))
    swept = await world.call("expire_runner_leases", 10, None, now)
    assert [row["expiry_outcome"] for row in swept] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("gap", "moves"), [(timedelta(seconds=5), False), (timedelta(seconds=5, microseconds=1), True)]
)
async def test_the_mark_moves_every_five_seconds_and_no_other_sweeps_does(
    world: World, gap: timedelta, moves: bool
) -> None:
    now = await world.owner.fetchval("SELECT now()")
    await world.owner.execute("INSERT INTO sweep_marks VALUES ('another', $1)", now)
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - gap)
    await world.call("expire_runner_leases", 10, None, now)
    marks = await world.owner.fetch("SELECT sweep, swept_at FROM sweep_marks")
    assert {row["sweep"]: row["swept_at"] for row in marks} == {
        "leases": now if moves else now - gap,
        "another": now - gap,
    }
