"""What a call decides that had to wait: by what it finds behind the lock, not by what it saw before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from boardreadyops.db.leases import LeaseGrant
from boardreadyops.db.pool import Connection, Record
from tests.sql.conftest import NOON, SHA_A, World, observation
from tests.sql.test_workflow_dispatch import claimed_dispatch

Call = tuple[object, ...]
LOOK_SECONDS = 0.002
MAX_LOOKS = 3_000  # six seconds: far beyond any call


async def overtaken(world: World, first: Call, second: Call) -> list[Record]:
    """The second call's rows: it begins while the first one's transaction is open, which ends once the second waits."""
    async with world.app.connection() as one, world.app.connection() as other:
        async with one.transaction():
            await _call(one, first)
            waiting = asyncio.create_task(_call(other, second))
            await until_blocked(world.owner, waiting, other.get_server_pid())
        return await waiting


async def _call(connection: Connection, call: Call) -> list[Record]:
    function, *arguments = call
    placeholders = ", ".join(f"${number}" for number in range(1, len(arguments) + 1))
    return await connection.fetch(f"SELECT * FROM boardreadyops_{function}({placeholders})", *arguments)


async def until_blocked(owner: Connection, waiting: asyncio.Task[Any], pid: int) -> None:
    """Until the task's session waits for a lock, or the task is over."""
    for _ in range(MAX_LOOKS):
        await asyncio.wait([waiting], timeout=LOOK_SECONDS)
        if waiting.done() or await owner.fetchval("SELECT cardinality(pg_blocking_pids($1)) > 0", pid):
            return
    raise AssertionError("it neither waits nor ends")


def report(grant: LeaseGrant) -> Call:
    key = grant.release_run_id, grant.execution_attempt_id, grant.retry_id, grant.registration_id
    return ("record_runner_result", *key, b"\1" * 32, "completed", "pass", "", 0, 0, {})


Situation = Callable[[World], Awaitable[tuple[Call, Call]]]


async def takeover_of_a_check(world: World, function: str, *rest: object) -> tuple[Call, Call]:
    """Another relay takes a claimed publication over; the first one's word comes late."""
    await world.opened()
    (row,) = await world.call("claim_publications", 10, 30, 60)
    later = await world.owner.fetchval("SELECT now() + interval '1 hour'")
    key = row["publication_id"], row["generation"]
    return ("claim_publications", 10, 30, 60, later), (function, *key, *rest)


async def acknowledge(world: World) -> tuple[Call, Call]:
    return await takeover_of_a_check(world, "acknowledge_publication", 1)


async def defer_check(world: World) -> tuple[Call, Call]:
    return await takeover_of_a_check(world, "defer_publication", "gone", "HTTP 404", 0)


async def defer_effect(world: World) -> tuple[Call, Call]:
    await world.opened()
    await world.enqueue(observation("d" * 40, minute=-1))
    (effect,) = await world.effects()
    later = await world.owner.fetchval("SELECT now() + interval '1 hour'")
    return ("claim_outbox", 10, 30, later), ("defer_outbox", effect.effect_id, effect.generation, "late", 0)


async def begin(world: World) -> tuple[Call, Call]:
    dispatch = await claimed_dispatch(world)
    later = await world.owner.fetchval("SELECT now() + interval '1 hour'")
    return ("claim_outbox", 10, 30, later), (
        "begin_workflow_dispatch",
        dispatch.effect_id,
        dispatch.generation,
    )


async def give_up(world: World) -> tuple[Call, Call]:
    takeover, (_, *key) = await begin(world)
    return takeover, ("give_up_workflow_dispatch", *key, "refused")


async def settle_effect(world: World) -> tuple[Call, Call]:
    takeover, (_, *key) = await begin(world)
    return takeover, ("settle_outbox", *key, "not_available")


@pytest.mark.parametrize("situation", [acknowledge, defer_check, defer_effect, begin, give_up, settle_effect])
async def test_who_was_fenced_off_while_waiting_settles_nothing(world: World, situation: Situation) -> None:
    takeover, late = await situation(world)
    (row,) = await overtaken(world, takeover, late)
    assert row[0] == "stale"
    assert await world.owner.fetchval("SELECT count(*) FROM publications WHERE closed_code IS NOT NULL") == 0
    assert await world.owner.fetchval("SELECT count(*) FROM outbox WHERE started_at IS NOT NULL") == 0


async def test_a_run_that_ended_while_its_approval_waited_is_not_approved(world: World) -> None:
    run_id = (await world.enqueue(replace(observation(), trust_mode="fork"))).release_run_id
    cancel = ("cancel_release_run", 1, run_id, "cancelled_by_user", "mira")
    (row,) = await overtaken(world, cancel, ("approve_release_run", 1, run_id, "mira"))
    assert row[0] == "terminal"
    assert await world.owner.fetchval("SELECT approval FROM release_runs") == "waiting"


async def test_a_run_that_completed_while_its_closing_waited_stays_completed(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    key = 1, 10, "refs/pull/1/head", 1, SHA_A, "main", "f" * 40, False, NOON + timedelta(minutes=1)
    (row,) = await overtaken(world, report(grant), ("close_ref", *key))
    assert (row["close_outcome"], row["cancelled_run_ids"]) == ("closed", [])
    assert (await world.run(run_id))["status"] == "completed"


@pytest.mark.parametrize("late", ["preparing_source", "uploading_artifacts"])
async def test_a_stage_that_was_reached_while_an_earlier_one_waited_stays(world: World, late: str) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    reporting, earlier = (
        ("heartbeat_runner_lease", grant.lease_id, stage, 7, "") for stage in ("reporting", late)
    )
    (beat,) = await overtaken(world, reporting, earlier)
    assert beat["directive"] == "continue"
    assert await world.owner.fetchval("SELECT stage FROM runner_leases") == "reporting"
    assert await world.history(run_id) == [
        ("release_run", "queued", "running", "runner_lease_claimed"),
        ("execution_attempt", "in_progress", "reporting", "runner_lease_heartbeat"),
    ]


async def test_a_verdict_that_falls_while_a_neutral_end_lands_is_what_is_told_anew(world: World) -> None:
    run_id = await world.opened(number=1)
    grant = await world.claimed()
    await world.published()
    await world.opened(number=2)
    await world.published(first_check_run_id=600)
    await world.close(observation(minute=1, number=2))
    (row,) = await world.call("claim_publications", 10, 30, 60)
    assert row["payload"]["status"] == "cancelled"
    landed = row["publication_id"], row["generation"], row["seq"]
    (answer,) = await overtaken(world, report(grant), ("acknowledge_publication", *landed))
    assert answer[0] == "applied"
    told = await world.publication(run_id)
    assert (told["ordinal"], told["payload"]["status"]) == (1, "completed")


async def test_an_enrolment_that_was_used_while_another_waited_is_refused(world: World) -> None:
    await world.call("issue_runner_enrollment", 1, None, "bench", b"\1" * 32, 900)
    one, other = (("register_runner", b"\1" * 32, token * 32, "bench", "1") for token in (b"\2", b"\3"))
    (row,) = await overtaken(world, one, other)
    assert row[0] == "refused"
    assert await world.count("runner_registrations") == 1


async def test_of_two_revocations_at_once_the_later_one_finds_it_done(world: World) -> None:
    revoke = ("revoke_runner", await world.runner())
    ((outcome,),) = await overtaken(world, revoke, revoke)
    assert outcome == "existing"


async def test_a_result_that_comes_while_a_revocation_waits_stands(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    await overtaken(world, report(grant), ("revoke_runner", grant.registration_id))
    assert (await world.run(grant.release_run_id))["status"] == "completed"
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "completed"


async def test_a_ref_that_closes_while_a_resumption_waits_is_not_due(world: World) -> None:
    await world.opened()
    key = 1, 10, "refs/pull/1/head", 1, SHA_A, "main", "f" * 40, False, NOON + timedelta(minutes=1)
    ((count,),) = await overtaken(world, ("close_ref", *key), ("resume_installation", 1, 10))
    assert count == 0
    assert await world.owner.fetchval("SELECT level_due_at FROM refs") is None
