"""Scenarios of runners, checks, time and repair that no single function's tests tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.publications import acknowledge_publication, record_check_run
from tests.sql.conftest import SHA_A, SHA_B, World
from tests.sql.test_cancel_release_run import cancel
from tests.sql.test_expire_runner_leases import expire, lost
from tests.sql.test_publications import claim as claim_checks
from tests.sql.test_publications import let_time_pass
from tests.sql.test_reconcile_workflow_run import dispatched, end_of, hint, running
from tests.sql.test_relinquish_runner_lease import relinquish
from tests.sql.test_retry_release_run import retry
from tests.sql.test_runner_leases import beat, claim
from tests.sql.test_sweep_deadlines import sweep

FINISHED_RUNS = 200_000


async def test_scenario_30_an_actions_tab_re_run_is_a_retry_and_its_result_is_accepted(world: World) -> None:
    dispatch = await running(world)
    await end_of(world, dispatch)
    assert await hint(world, "in_progress", attempt=2) == "retried"
    run = await world.run(dispatch.run_id)
    arguments = (
        run["id"],
        run["execution_attempt_id"],
        run["retry_id"],
        None,
        b"\1" * 32,
        "completed",
        "pass",
    )
    assert await world.answer("record_runner_result", *arguments, "", 0, 0, {}) == "accepted"
    run = await world.run(dispatch.run_id)
    assert (run["status"], run["decision"], run["retry_number"]) == ("completed", "pass", 1)


async def test_scenario_33_an_inferred_failure_is_corrected_and_the_check_follows_later(world: World) -> None:
    run_id = await world.opened()
    await world.published()
    grant = await world.claimed()
    await sweep(world, (await world.run(run_id))["due_at"])
    await world.published()
    assert (await world.publication(run_id))["payload"]["status"] == "timed_out"
    assert (await world.report(grant)).outcome == "accepted"
    run = await world.run(run_id)
    assert (run["status"], run["decision"], run["reason_code"]) == (
        "completed",
        "pass",
        "runner_result_corrected",
    )
    (claimed,) = await claim_checks(world)
    deferring = (claimed.publication_id, claimed.generation, "transient", "HTTP 503", 3600)
    assert await world.answer("defer_publication", *deferring) == "applied"
    assert await claim_checks(world) == ()
    await let_time_pass(world, 3600)
    assert await world.published() == [claimed.publication_id]
    told = await world.publication(run_id)
    assert (told["payload"]["decision"], told["acked_seq"] == told["desired_seq"]) == ("pass", True)


async def test_scenario_36_the_only_runner_dies_and_the_run_is_queued_again(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    assert await lost(world, grant) == "requeued"
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    successor = await world.claimed()
    assert successor.release_run_id == run_id
    assert (await world.attempt(successor.execution_attempt_id))["number"] == 2
    assert (await world.report(grant)).outcome == "late"
    assert (await world.report(successor)).outcome == "accepted"


async def test_scenario_37_a_board_that_kills_each_runner_ends_with_its_own_reason(world: World) -> None:
    run_id = await world.opened()
    outcomes = []
    for _ in range(3):
        outcomes.append(await lost(world, await world.claimed()))
        await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    assert outcomes == ["requeued", "requeued", "exhausted"]
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"]) == ("failed", "runner_attempts_exhausted")
    assert (await claim(world, await world.runner(), uuid4())).outcome == "none"
    assert (await world.publication(run_id))["payload"]["reason_code"] == "runner_attempts_exhausted"


async def test_scenario_38_a_run_that_nobody_claims_ends_at_the_queue_deadline(world: World) -> None:
    run_id = await world.opened()
    await relinquish(world, (await world.claimed()).lease_id, "capability", needs=("kicad>=10",))
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    assert (await claim(world, await world.runner(), uuid4())).outcome == "none"
    run = await world.run(run_id)
    await sweep(world, run["due_at"])
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"], run["needs"]) == (
        "timed_out",
        "queue_deadline_exceeded",
        ["kicad>=10"],
    )
    told = await world.publication(run_id)
    assert told["payload"]["reason_code"] == "queue_deadline_exceeded"


async def test_scenario_39_a_job_longer_than_the_maximum_lease_ends_once(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    maximum = (await world.run(run_id))["due_at"]
    await world.call(
        "heartbeat_runner_lease", grant.lease_id, "running", 99, "", maximum - timedelta(seconds=1)
    )
    answer = (await world.call("heartbeat_runner_lease", grant.lease_id, "running", 99, "", maximum))[0]
    assert (answer["lease_state"], answer["directive"]) == ("expired", "stop")
    assert [expiry.outcome for expiry in await expire(world, maximum)] == ["timed_out"]
    assert await expire(world, maximum + timedelta(days=1)) == []
    assert await sweep(world, maximum + timedelta(days=1)) == []
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"]) == ("timed_out", "run_deadline_exceeded")
    assert await world.count("release_run_attempts") == 1


async def test_scenario_40_a_revoked_runners_lease_ends_at_once(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    assert await world.answer("revoke_runner", grant.registration_id) == "applied"
    assert (await beat(world, grant.lease_id, "running")).lease_state == "revoked"
    assert (await world.run(run_id))["status"] == "queued"


async def test_scenario_45_a_lost_answer_or_a_moved_run_makes_no_second_check(world: World) -> None:
    run_id = await world.opened(SHA_A)
    (lost_claim,) = await claim_checks(world)
    await world.opened(SHA_B, minute=1)
    await let_time_pass(world, 91)
    claimed = {row.external_id: row for row in await claim_checks(world)}
    again = claimed[f"{run_id}:0:0"]
    assert (again.publication_id, again.doubtful, again.check_run_id) == (
        lost_claim.publication_id,
        True,
        None,
    )
    assert again.payload["status"] == "superseded"
    key = {"publication_id": again.publication_id, "generation": again.generation}
    async with world.app.transaction() as connection:
        assert await record_check_run(connection, check_run_id=500, **key) == "applied"
        assert await acknowledge_publication(connection, seq=again.seq, **key) == "applied"
    row = await world.publication(run_id)
    assert (row["check_run_id"], row["acked_seq"], row["ordinal"]) == (500, row["desired_seq"], 0)
    assert (
        await world.owner.fetchval("SELECT count(*) FROM publications WHERE release_run_id = $1", run_id) == 1
    )


@pytest.mark.parametrize("end", ["superseded", "cancelled", "timed_out"])
async def test_scenario_46_every_end_completes_the_check_and_a_retry_shows_a_new_one(
    world: World, end: str
) -> None:
    run_id = await world.opened(SHA_A)
    await world.published()
    match end:
        case "superseded":
            await world.opened(SHA_B, minute=1)
        case "cancelled":
            await cancel(world, run_id)
        case _:
            await sweep(world, (await world.run(run_id))["due_at"])
    row = await world.publication(run_id)
    assert (row["payload"]["status"], row["desired_seq"] > row["acked_seq"]) == (end, True)
    await world.published(first_check_run_id=600)
    row = await world.publication(run_id)
    assert (row["acked_seq"], row["check_run_id"]) == (row["desired_seq"], 500)
    if end != "superseded":
        assert (await retry(world, run_id)).outcome == "created"
        await world.owner.execute("UPDATE publications SET available_at = now()")
        await world.published(first_check_run_id=700)
        newest = await world.publication(run_id, 1)
        assert (newest["check_run_id"], newest["payload"]["status"]) == (700, "queued")
        assert (await world.publication(run_id))["payload"]["status"] == end


async def test_scenario_47_an_older_write_that_lands_last_is_read_back(world: World) -> None:
    run_id = await world.opened()
    (older,) = await claim_checks(world)
    await let_time_pass(world, 91)
    await cancel(world, run_id)
    assert len(await world.published()) == 1
    async with world.app.transaction() as connection:
        outcome = await acknowledge_publication(
            connection, publication_id=older.publication_id, generation=older.generation, seq=older.seq
        )
    assert outcome == "stale"
    (due,) = await world.call("claim_verifications", 10, 60)
    assert (due["publication_id"], due["payload"]["status"]) == (older.publication_id, "cancelled")


async def test_scenario_48_a_skipped_neutral_check_is_never_repaired_into_a_failure(world: World) -> None:
    run_id = await world.opened()
    await cancel(world, run_id, reason="policy_skipped")
    await world.published()
    await world.owner.execute("UPDATE publications SET verify_at = now()")
    await world.call("resume_installation", 1, 10)
    far = datetime(2100, 1, 1, tzinfo=(await world.run(run_id))["created_at"].tzinfo)
    before = await world.run(run_id)
    await sweep(world, far)
    await world.call("sweep_levels", 10, far)
    await expire(world, far)
    (due,) = await world.call("claim_verifications", 10, 60)
    assert (
        await world.answer("record_verification", due["publication_id"], due["seq"], "different") == "applied"
    )
    (claimed,) = await claim_checks(world)
    assert (claimed.payload["status"], claimed.payload["reason_code"]) == ("cancelled", "policy_skipped")
    assert await world.run(run_id) == before


async def test_scenario_56_a_workflow_that_stays_pending_ends_at_its_deadline(world: World) -> None:
    dispatch = await dispatched(world)
    due_at = (await world.run(dispatch.run_id))["due_at"]
    for minutes in (5, 15, 29):
        now = due_at - timedelta(minutes=30 - minutes)
        assert await hint(world, "queued", now=now) == "existing"
        assert await sweep(world, now) == []
    assert (await world.run(dispatch.run_id))["due_at"] == due_at
    assert [row.reason_code for row in await sweep(world, due_at)] == ["start_deadline_exceeded"]
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]


async def test_scenario_57_a_run_that_moved_while_it_was_reconciled_is_still_watched(world: World) -> None:
    dispatch = await dispatched(world)
    assert await hint(world, "in_progress") == "applied"
    run = await world.run(dispatch.run_id)
    assert run["due_at"] == run["updated_at"] + timedelta(minutes=90)
    assert await hint(world, "completed") == "waiting"
    assert await world.owner.fetchval("SELECT next_check_at IS NOT NULL FROM reconciliation_findings")
    assert [row.reason_code for row in await sweep(world, run["due_at"])] == ["run_deadline_exceeded"]


async def poisoned(world: World, run_id: UUID) -> None:
    """From now on no transition of this run can be stored."""
    await world.owner.execute(
        "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'poisoned row'; END $$"
    )
    await world.owner.execute(
        f"CREATE TRIGGER poison BEFORE UPDATE ON release_runs FOR EACH ROW WHEN (OLD.id = '{run_id}')"
        " EXECUTE FUNCTION poison()"
    )


@pytest.mark.parametrize("sweeping", ["deadlines", "leases"])
async def test_scenario_58_one_poisoned_row_stops_no_sweep_for_the_others(
    world: World, sweeping: str
) -> None:
    runs = [await world.opened(number=number) for number in range(1, 4)]
    if sweeping == "leases":
        runner = await world.runner()
        for _ in runs:
            await world.claimed(runner)
    await poisoned(world, runs[1])
    now = await world.owner.fetchval("SELECT max(due_at) FROM release_runs")
    function = "sweep_deadlines" if sweeping == "deadlines" else "expire_runner_leases"
    await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now)
    with pytest.raises(asyncpg.RaiseError, match="poisoned"):
        await world.call(function, 10, None, now)
    swept, parked = 0, 0
    for row in await world.call("list_due", sweeping, 10, now):
        try:
            swept += len(await world.call(function, 1, row[0], now))
        except asyncpg.RaiseError:
            parked += 1
    assert (swept, parked) == (2, 1)
    statuses = [(await world.run(run_id))["status"] for run_id in runs]
    assert statuses == ["timed_out", "queued" if sweeping == "deadlines" else "running", "timed_out"]


async def test_scenario_59_two_hundred_thousand_finished_runs_cost_a_sweep_nothing(
    app_database: Database, owner_connection: Connection
) -> None:
    await owner_connection.execute("INSERT INTO installations (id, account_login) VALUES (1, 'acme')")
    await owner_connection.execute(
        "INSERT INTO repositories (id, installation_id, owner, name) VALUES (10, 1, 'a', 'b')"
    )
    await owner_connection.execute(
        "SET session_replication_role = replica"
    )  # no key is looked up 200,000 times
    await owner_connection.execute(
        "INSERT INTO release_runs (installation_id, repository_id, ref, commit_sha, status, decision, trust_mode,"
        " created_at, queued_at, updated_at, finished_at)"
        " SELECT 1, 10, 'refs/heads/' || n, lpad(to_hex(n), 40, '0'), 'completed', 'pass', 'trusted', now(), now(),"
        f" now(), now() FROM generate_series(1, {FINISHED_RUNS}) AS n"
    )
    await owner_connection.execute("ANALYZE release_runs")
    for call in ("sweep_deadlines(100)", "expire_runner_leases(100)", "list_due('deadlines', 100)"):
        pages = []
        async with app_database.connection() as connection:
            for _ in range(2):  # the first call of a session also reads the catalog
                plan = await connection.fetchval(
                    f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM boardreadyops_{call}"
                )
                top = plan[0]["Plan"]
                pages.append(top["Shared Hit Blocks"] + top["Shared Read Blocks"])
        assert pages[-1] < 50, call


async def test_scenario_60_after_a_long_outage_healthy_runners_are_not_expired(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    now = (await world.run(run_id))["due_at"] - timedelta(minutes=30)
    await world.owner.execute("UPDATE sweep_marks SET swept_at = claimed_at FROM runner_leases")
    assert await world.call("expire_runner_leases", 10, None, now) == []
    beating = ("heartbeat_runner_lease", grant.lease_id, "running", 50, "", now + timedelta(seconds=20))
    assert (await world.call(*beating))[0]["directive"] == "continue"
    assert [row.outcome for row in await expire(world, now + timedelta(seconds=120))] == ["rearmed"]
    assert [row.outcome for row in await expire(world, now + timedelta(seconds=140))] == ["requeued"]


async def test_scenario_20_a_worker_whose_lease_was_taken_over_is_refused(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner()
    taken = await world.claimed(runner)
    assert await lost(world, taken) == "requeued"
    await world.owner.execute("UPDATE release_runs SET queued_at = created_at")
    successor = await world.claimed(runner)
    before = await world.everything(but=("runner_result_audit",))
    assert (await world.report(taken)).outcome == "late"
    assert await relinquish(world, taken.lease_id) == "stale"
    assert (await beat(world, taken.lease_id, "reporting")).directive == "stop"
    assert await world.everything(but=("runner_result_audit",)) == before
    assert (await world.run(run_id))["execution_attempt_id"] == successor.execution_attempt_id
