"""Scenarios of webhooks, order and retries that no single function's tests tell."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from datetime import datetime, timedelta
from importlib.resources import files
from uuid import UUID, uuid4

import asyncpg
import pytest

from boardreadyops.db.leases import LeaseGrant
from boardreadyops.db.metadata import note_installation, put_installation, put_repository
from boardreadyops.db.pool import Connection
from boardreadyops.db.runs import enqueue_release_run
from boardreadyops.domain.identity import InstallationState, RepositoryFacts
from tests.sql.conftest import NOON, SHA_A, SHA_B, World, observation
from tests.sql.test_cancel_release_run import cancel
from tests.sql.test_relinquish_runner_lease import relinquish
from tests.sql.test_retry_release_run import failed_run, retry
from tests.sql.test_runner_leases import beat, claim

ACME = InstallationState(
    installation_id=1, account_login="acme", account_id=7, suspended=False, removed=False, observed_at=NOON
)


async def test_scenario_08_a_run_knows_its_new_base(world: World) -> None:
    run_id = await world.opened()
    moved = await world.enqueue(replace(observation(minute=1), base_ref="develop", base_sha="e" * 40))
    assert (moved.outcome, moved.release_run_id) == ("existing", run_id)
    row = await world.owner.fetchrow("SELECT base_ref, base_sha, release_run_id FROM refs")
    assert row is not None
    assert tuple(row) == ("develop", "e" * 40, run_id)
    run = await world.run(run_id)
    assert (run["base_sha"], run["status"], run["version"]) == ("e" * 40, "queued", 0)
    assert (await world.claimed()).base_sha == "e" * 40


async def test_scenario_10_a_pull_request_before_its_installation_event_is_not_dropped(world: World) -> None:
    facts = RepositoryFacts(repository_id=20, owner="new", name="board", private=True, default_branch="main")
    async with world.app.transaction() as connection:
        await note_installation(connection, installation_id=2, account_login="new", account_id=None)
        await put_repository(connection, 2, facts, observed_at=NOON)
    enqueued = await world.enqueue(replace(observation(), installation_id=2, repository_id=20))
    assert enqueued.outcome == "created"
    state = InstallationState(
        installation_id=2, account_login="new", account_id=9, suspended=False, removed=False, observed_at=NOON
    )
    async with world.app.transaction() as connection:
        assert await put_installation(connection, state)
        await put_repository(connection, 2, facts, observed_at=NOON)
    assert enqueued.release_run_id is not None
    assert (await world.run(enqueued.release_run_id))["status"] == "queued"
    assert await world.owner.fetchval("SELECT account_id FROM installations WHERE id = 2") == 9


async def test_scenario_11_a_redelivered_suspension_or_a_plain_event_flips_no_metadata(world: World) -> None:
    async with world.app.transaction() as connection:
        assert await put_installation(connection, ACME)
    before = await world.everything()
    old = replace(ACME, suspended=True, account_id=None, observed_at=NOON - timedelta(minutes=1))
    async with world.app.transaction() as connection:
        assert not await put_installation(connection, old)
        await note_installation(connection, installation_id=1, account_login="blank", account_id=None)
    assert await world.everything() == before
    async with world.app.transaction() as connection:
        assert await put_installation(
            connection, replace(ACME, account_id=None, observed_at=NOON + timedelta(minutes=1))
        )
    assert await world.owner.fetchval("SELECT account_id FROM installations") == 7


async def test_scenario_18_a_result_that_races_its_own_heartbeat_is_applied(world: World) -> None:
    for number in range(1, 8):
        run_id = await world.opened(number=number)
        grant = await world.claimed()
        answer, _ = await asyncio.gather(world.report(grant), beat(world, grant.lease_id, "reporting"))
        assert answer.outcome == "accepted"
        run = await world.run(run_id)
        assert (run["status"], run["decision"]) == ("completed", "pass")


def moves_of(
    world: World, grant: LeaseGrant, due_at: datetime, number: int
) -> tuple[Coroutine[object, object, object], ...]:
    """What can happen to a running run of this pull request, not yet begun."""
    return (
        cancel(world, grant.release_run_id),
        world.report(grant),
        relinquish(world, grant.lease_id, "job_error"),
        world.call("sweep_deadlines", 1, grant.release_run_id, due_at),
        world.call("expire_runner_leases", 1, grant.lease_id, due_at),
        world.enqueue(observation("e" * 40, minute=1, number=number)),
    )


async def test_scenario_19_two_at_once_end_in_a_legal_state_whatever_they_are(world: World) -> None:
    runner = await world.runner()
    for number in range(1, 16):
        run_id = await world.opened(f"{number:040x}", number=number)
        grant = await world.claimed(runner)
        due_at = (await world.run(run_id))["due_at"]
        moves = moves_of(world, grant, due_at, number)
        one, other = [(a, b) for a in range(6) for b in range(a + 1, 6)][number - 1]
        await asyncio.gather(moves[one], moves[other])
        for move in set(moves) - {moves[one], moves[other]}:
            move.close()
        run = await world.run(run_id)
        assert (await world.publication(run_id))["payload"]["status"] == run["status"]
        if run["finished_at"] is None:
            assert run["status"] == "queued"
            await cancel(world, run_id)
        if other == 5:
            await cancel(world, await world.opened("e" * 40, minute=1, number=number))


async def test_scenario_21_no_program_tells_the_database_what_time_it_is(world: World) -> None:
    rows = await world.owner.fetch(
        "SELECT proname, array_position(proargnames[1:pronargs], 'p_now') AS position FROM pg_proc"
        " WHERE proname LIKE 'boardreadyops\\_%' AND 'p_now' = ANY (proargnames[1:pronargs])"
    )
    positions = {row["proname"]: row["position"] for row in rows}
    checked = 0
    for file in files("boardreadyops").joinpath("sql", "queries").iterdir():
        for name, position in positions.items():
            _, called, rest = file.read_text().partition(f"{name}(")
            if called:
                arguments = [argument.strip() for argument in rest.partition(")")[0].split(",")]
                assert len(arguments) < position or arguments[position - 1] == "NULL", file.name
                checked += 1
    assert checked > 20


async def test_scenario_21_the_seconds_of_a_lease_are_counted_by_the_database(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    left = await world.owner.fetchrow("SELECT expires_at - clock_timestamp() AS left FROM runner_leases")
    assert left is not None
    assert abs(left["left"].total_seconds() - grant.expires_in_seconds) < 60


async def test_scenario_23_a_correction_to_the_same_status_has_a_version_and_an_event(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    await world.call("sweep_deadlines", 1, run_id, (await world.run(run_id))["due_at"])
    before = await world.run(run_id)
    assert (before["status"], before["decision"]) == ("timed_out", None)
    assert (await world.report(grant, "timed_out", "error")).outcome == "accepted"
    run = await world.run(run_id)
    assert (run["status"], run["decision"], run["version"]) == ("timed_out", "error", before["version"] + 1)
    assert (await world.history(run_id))[-2:] == [
        ("execution_attempt", "timed_out", "timed_out", "runner_result_corrected"),
        ("release_run", "timed_out", "timed_out", "runner_result_corrected"),
    ]
    assert (await world.report(grant, "failed", "error", body=b"again")).outcome == "conflict"
    assert (await world.run(run_id))["version"] == run["version"]


async def test_scenario_24_a_repeat_of_what_was_committed_reads_as_success(world: World) -> None:
    runner, request_id = await world.runner(), uuid4()
    assert [(await world.enqueue(observation())).outcome for _ in range(2)] == ["created", "existing"]
    claims = [await claim(world, runner, request_id) for _ in range(2)]
    assert [answer.outcome for answer in claims] == ["created", "existing"]
    assert claims[0].lease_id == claims[1].lease_id
    assert claims[0].lease_id is not None
    assert [await relinquish(world, claims[0].lease_id) for _ in range(2)] == ["accepted", "replayed"]
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    grant = await world.claimed(runner)
    assert [(await world.report(grant)).outcome for _ in range(2)] == ["accepted", "replayed"]
    run_id = grant.release_run_id
    assert [(await retry(world, run_id)).outcome for _ in range(2)] == ["created", "existing"]
    assert [(await cancel(world, run_id)).outcome for _ in range(2)] == ["applied", "existing"]
    closed = [await world.close(observation(minute=1)) for _ in range(2)]
    assert [answer.outcome for answer in closed] == ["closed", "closed"]


async def test_scenario_24_a_serialization_failure_leaves_nothing_and_may_be_repeated(world: World) -> None:
    await world.opened()

    async def enqueue(connection: Connection) -> UUID | None:
        return (await enqueue_release_run(connection, observation(SHA_B, minute=1))).release_run_id

    async with world.app.connection() as slow, world.app.connection() as fast:
        before_the_other = slow.transaction(isolation="repeatable_read")
        await before_the_other.start()
        await slow.fetchval("SELECT count(*) FROM release_runs")
        async with fast.transaction():
            winner = await enqueue(fast)
        before = await world.everything()
        with pytest.raises(asyncpg.SerializationError):
            await enqueue(slow)
        await before_the_other.rollback()
        assert await world.everything() == before
        async with slow.transaction(isolation="repeatable_read"):
            assert await enqueue(slow) == winner


async def test_scenario_28_the_check_of_an_old_commit_cannot_reach_the_newer_run(world: World) -> None:
    older = await failed_run(world)
    newer = await world.opened(SHA_B, minute=1)
    before = await world.everything()
    assert (await retry(world, older)).outcome == "superseded"
    assert await world.everything() == before
    assert (await world.run(newer))["status"] == "queued"


async def test_scenario_66_a_reader_of_events_skips_none_that_committed_late(world: World) -> None:
    first, second = await world.opened(SHA_A, number=1), await world.opened(SHA_A, number=2)
    gap_free = (
        "SELECT id, release_run_id, change_xid FROM release_run_transition_events"
        " WHERE change_xid >= $1 AND change_xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY change_xid, id"
    )
    cancelling = "SELECT * FROM boardreadyops_cancel_release_run(1, $1, 'cancelled_by_user', NULL)"
    async with world.app.connection() as slow:
        late = slow.transaction()
        await late.start()
        await slow.execute(cancelling, first)
        await cancel(world, second)
        assert await world.owner.fetch(gap_free, 0) == []
        await late.commit()
    async with asyncio.timeout(20):  # a transaction of any database of the server may hold the reader back
        while len(seen := await world.owner.fetch(gap_free, 0)) < 2:
            pass
    assert [row["release_run_id"] for row in seen] == [first, second]
    assert await world.owner.fetch(gap_free, seen[-1]["change_xid"] + 1) == []


async def test_scenario_11_a_suspension_of_the_same_second_flips_nothing_and_a_removal_does(
    world: World,
) -> None:
    async with world.app.transaction() as connection:
        assert await put_installation(connection, ACME)
    before = await world.everything()
    async with world.app.transaction() as connection:
        assert not await put_installation(connection, replace(ACME, suspended=True))
        assert await put_installation(connection, ACME)
    assert await world.everything() == before
    async with world.app.transaction() as connection:
        assert await put_installation(connection, replace(ACME, removed=True))
        assert not await put_installation(connection, ACME)
    assert await world.owner.fetchval("SELECT removed FROM installations WHERE id = 1")
