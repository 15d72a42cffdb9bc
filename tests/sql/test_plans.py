"""The hot statements find their rows by the index that was made for them, however many runs there are.

Continuous integration looks at two million runs (BOARDREADYOPS_TEST_PLAN_RUNS=2000000, a minute and a half of seeding). By
default there are 150,000 in the same proportions: the choice of index hangs on those, and a tree over two million keys is
one page deeper, for which the bounds leave room.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from boardreadyops.bench.seed import Amount, seed_runs, seed_world
from boardreadyops.config import Secret
from boardreadyops.db.cluster import with_database
from boardreadyops.db.pool import Connection, connect
from boardreadyops.db.statements import statement
from tests.sql.plans import Plan, plans_of

RUNS = int(os.environ.get("BOARDREADYOPS_TEST_PLAN_RUNS", "150000"))
FINISHED = RUNS * 2 // 3
SMALL = {
    *("deployment_settings", "sweep_marks", "claim_marks", "claim_turn", "lifecycle_edges"),
    *("installations", "repositories", "runner_registrations", "outbox"),
}


@pytest.fixture(scope="module")
def seeded_database(test_server: Secret, template_database: str) -> Iterator[Secret]:
    """One database with many runs for all workers of this test run; nothing in it is changed for good."""
    name = f"plans_{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
    asyncio.run(_make(test_server, name, template_database))
    yield with_database(test_server, name)
    asyncio.run(_drop(test_server, name))


async def _make(server: Secret, name: str, template: str) -> None:
    connection = await connect(server, application_name="tests plans")
    try:
        await connection.execute("SELECT pg_advisory_lock(4711)")
        if await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name):
            return
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        await seed_world(with_database(server, name))
        await seed_runs(with_database(server, name), Amount(FINISHED, RUNS - FINISHED))
    finally:
        await connection.close()


async def _drop(server: Secret, name: str) -> None:
    connection = await connect(server, application_name="tests plans")
    try:
        await connection.execute(f"DROP DATABASE IF EXISTS {name}")
    except asyncpg.ObjectInUseError:
        pass  # another worker's tests use it, and will drop it
    finally:
        await connection.close()


@pytest.fixture
async def owner(seeded_database: Secret) -> AsyncIterator[Connection]:
    connection = await connect(seeded_database, application_name="tests plans")
    yield connection
    await connection.close()


def _assert_nothing_big_is_read_whole(plans: list[Plan]) -> None:
    assert [plan for plan in plans if plan.read_whole - SMALL] == []


def _the_one(plans: list[Plan], *words: str) -> Plan:
    found = [plan for plan in plans if all(word in plan.text for word in words)]
    assert len(found) == 1, [plan.text for plan in plans]
    return found[0]


async def _claim(owner: Connection) -> list[Plan]:
    return await plans_of(
        owner,
        "SELECT * FROM boardreadyops_claim_runner_lease(md5('runner1')::uuid, gen_random_uuid(), '{kicad=9}')",
    )


async def test_a_claim_finds_the_next_run_at_the_head_of_its_queue(owner: Connection) -> None:
    plans = await _claim(owner)
    _assert_nothing_big_is_read_whole(plans)
    search = _the_one(
        plans, "ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
    )
    assert search.indexes == {"release_runs_claimable"}
    assert search.buffers <= 60  # the five claims undone before left dead entries at the head
    assert max(plan.buffers for plan in plans) <= 400  # the whole call


async def test_a_deadline_sweep_reads_what_is_due_and_no_more(owner: Connection) -> None:
    plans = await plans_of(owner, statement("sweep_deadlines"), 100, None)
    search = _the_one(plans, "run.due_at <= v_now")
    assert search.indexes == {"release_runs_due"}
    assert search.buffers <= 10


async def test_a_deadline_sweep_with_runs_due_takes_its_batch_and_no_more(owner: Connection) -> None:
    late = "SELECT * FROM boardreadyops_sweep_deadlines(10, NULL, now() + interval '60 days')"
    plans = await plans_of(owner, late)
    _assert_nothing_big_is_read_whole(plans)
    search = _the_one(plans, "run.due_at <= v_now")
    assert search.indexes == {"release_runs_due"}
    assert search.buffers <= 150


async def test_a_lease_sweep_reads_what_is_due_and_no_more(owner: Connection) -> None:
    plans = await plans_of(owner, statement("expire_runner_leases"), 100, None)
    search = _the_one(plans, "lease.next_check_at <= v_now")
    assert search.indexes == {"runner_leases_due"}
    assert search.buffers <= 10


async def test_a_level_sweep_reads_what_is_due_and_no_more(owner: Connection) -> None:
    search = _the_one(await plans_of(owner, statement("sweep_levels"), 100, 0), "level_due_at <= v_now")
    assert search.indexes == {"refs_level_due"}
    assert search.buffers <= 10


async def test_a_publication_claim_reads_what_is_due_and_no_more(owner: Connection) -> None:
    search = _the_one(
        await plans_of(owner, statement("claim_publications"), 20, 30, 60), "due.available_at <= v_now"
    )
    assert "publications_due" in search.indexes
    assert search.buffers <= 10


async def test_a_verification_claim_reads_what_is_due_and_no_more(owner: Connection) -> None:
    search = _the_one(await plans_of(owner, statement("claim_verifications"), 20, 30), "verify_at <= v_now")
    assert "publications_to_verify" in search.indexes
    assert search.buffers <= 10


async def test_the_timeline_reads_the_events_of_one_run(owner: Connection) -> None:
    run_id = await owner.fetchval("SELECT md5('run' || $1::bigint)::uuid", FINISHED - 1)
    plans = await plans_of(owner, statement("page_transitions"), run_id, 100)
    assert len(plans) == 1
    assert plans[0].indexes == {"release_run_transition_events_by_run"}
    assert plans[0].buffers <= 10


async def test_a_retry_costs_its_ref_and_its_run(owner: Connection) -> None:
    run = await owner.fetchrow(
        "SELECT run.* FROM refs JOIN release_runs AS run ON run.id = refs.release_run_id WHERE run.status = 'completed'"
        " LIMIT 1"
    )
    assert run is not None
    plans = await plans_of(owner, statement("retry_release_run"), run["installation_id"], run["id"], 0)
    _assert_nothing_big_is_read_whole(plans)
    assert max(plan.buffers for plan in plans) <= 250
    assert _the_one(plans, "UPDATE release_runs SET").indexes == {"release_runs_pkey"}


async def test_an_enqueue_on_a_ref_of_many_commits_costs_the_open_run_and_the_head(owner: Connection) -> None:
    plans = await plans_of(
        owner,
        "SELECT * FROM boardreadyops_enqueue_release_run_with_outbox(1, 100, 'refs/pull/1/head', 1, repeat('e', 40),"
        " 'main', repeat('f', 40), false, 'trusted', clock_timestamp())",
    )
    _assert_nothing_big_is_read_whole(plans)
    locking = _the_one(plans, "UNION ALL", "FOR NO KEY UPDATE")
    assert "release_runs_one_open_per_ref" in locking.indexes
    assert locking.buffers <= 40
