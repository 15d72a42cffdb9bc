"""Results, leases and the real runner, through the whole system (scenarios 17, 18, 31-35, 41, 42, 62)."""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from pathlib import Path

import pytest

from tests.e2e.programs import Pipe, gone
from tests.e2e.runners import hand_runner, hanging, register, reporting, start_runner
from tests.e2e.system import BOARD, Tenant, open_system, result_body, run_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUNDS = 8
HEARTBEAT_SECONDS = 1.0
GRACE_SECONDS = 2.0
SLACK_SECONDS = 3.0
READER_CONNECTIONS = 4


async def test_a_board_is_checked_by_the_real_runner(tenant: Tenant, tmp_path: Path) -> None:
    state = await register(tenant, tmp_path)
    run_id, sha = await tenant.new_run()
    runner = await start_runner(tenant, tmp_path, state, reporting(tmp_path))
    await tenant.concluded(sha, "success")
    await runner.line("accepted")
    assert await runner.stop() == 0
    assert list((tmp_path / "work").glob("*")) == []
    run = await tenant.system.run(run_id)
    assert (run["status"], run["decision"]) == ("completed", "pass")


async def test_scenario_17_of_a_result_and_a_supersession_at_once_exactly_one_wins(tenant: Tenant) -> None:
    runner = await hand_runner(tenant)
    run_id, sha = await tenant.new_run()
    for _ in range(ROUNDS):
        lease, newer = await runner.claim(), tenant.commit()
        told, pushed = await asyncio.gather(runner.report(lease), tenant.push(newer))
        run = await tenant.system.run(run_id)
        outcome = told.json()["outcome"]
        if outcome == "accepted":
            assert (run["status"], run["decision"], run["superseded_by"]) == ("completed", "pass", None)
        else:
            assert outcome == "late"
            assert (run["status"], run["decision"]) == ("superseded", None)
            assert run["superseded_by"] == run_of(pushed)
        await tenant.concluded(sha, "success" if outcome == "accepted" else "neutral")
        won = {"accepted": "runner_result_completed", "late": "newer_commit"}[outcome]
        assert await tenant.system.reasons(run_id) == ["runner_lease_claimed", won]
        assert len(tenant.checks(sha)) == 1
        run_id, sha = run_of(pushed), newer


async def test_scenario_18_a_result_that_races_its_own_heartbeats_is_applied(tenant: Tenant) -> None:
    runner = await hand_runner(tenant)
    for _ in range(ROUNDS):
        _, sha = await tenant.new_run()
        lease = await runner.claim()
        reporting_result = asyncio.create_task(runner.report(lease))
        stages = ("running", "uploading_artifacts", "reporting")
        await asyncio.gather(*(runner.beat(lease, one) for one in stages))
        told = await reporting_result
        assert (told.status_code, told.json()["outcome"]) == (200, "accepted")
        await tenant.concluded(sha, "success")


async def test_scenario_22_a_repeated_heartbeat_leaves_no_trace(tenant: Tenant) -> None:
    run_id, _ = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    await runner.beat(lease, "reporting")
    before = (await tenant.system.run(run_id), await tenant.system.api(f"/runs/{run_id}/transitions"))
    for stage in ("reporting", "running", "claimed", "reporting"):
        assert (await runner.beat(lease, stage))["directive"] == "continue"
    after = (await tenant.system.run(run_id), await tenant.system.api(f"/runs/{run_id}/transitions"))
    assert before == after


async def test_scenario_31_a_late_result_is_on_record_and_changes_nothing(tenant: Tenant) -> None:
    run_id, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    newer = tenant.commit()
    head = run_of(await tenant.push(newer))
    await tenant.concluded(sha, "neutral")
    before = await tenant.system.run(run_id)
    late = await runner.report(lease)
    assert (late.status_code, late.json()["outcome"]) == (202, "late")
    assert late.json()["audit_id"] is not None
    assert (await runner.report(lease)).json() == late.json()
    assert await tenant.system.run(run_id) == before
    assert (await runner.beat(lease, "reporting"))["state"] == "superseded"
    assert (await tenant.system.run(head))["status"] == "queued"
    assert (await runner.claim())["commit_sha"] == newer
    async with tenant.system.database() as connection:
        query = "SELECT count(*) FROM runner_result_audit WHERE release_run_id = $1 AND outcome = 'late'"
        assert await connection.fetchval(query, run_id) == 1


async def test_scenario_32_the_same_result_again_is_replayed_and_another_is_a_conflict(
    tenant: Tenant,
) -> None:
    run_id, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    first = await asyncio.gather(*(runner.report(lease) for _ in range(4)))
    assert sorted(one.json()["outcome"] for one in first) == ["accepted", *["replayed"] * 3]
    other = await runner.report(lease, result_body(lease, decision="fail", summary="No"))
    assert (other.status_code, other.json()["outcome"]) == (409, "conflict")
    assert other.json()["audit_id"] is not None
    await tenant.concluded(sha, "success")
    assert (await tenant.system.run(run_id))["decision"] == "pass"
    assert await tenant.system.reasons(run_id) == ["runner_lease_claimed", "runner_result_completed"]


async def test_scenario_32_a_claim_whose_answer_was_lost_gives_the_same_lease(tenant: Tenant) -> None:
    await tenant.new_run()
    runner = await hand_runner(tenant)
    request_id = "0b6ee91c-6a5f-4b6b-9a0b-5ac5f0a8a001"
    answers = await asyncio.gather(*(runner.ask(request_id=request_id) for _ in range(3)))
    assert sorted(one.status_code for one in answers) == [200, 200, 201]
    assert len({one.json()["lease_token"] for one in answers}) == 1
    await runner.report(answers[0].json())
    assert (await runner.ask(request_id=request_id)).status_code == 409


async def test_scenario_69_a_lease_and_a_run_of_another_tenant_are_out_of_reach(tenant: Tenant) -> None:
    run_id, _ = await tenant.new_run()
    stranger = await hand_runner(await tenant.system.tenant())
    assert (await stranger.ask()).status_code == 204
    lease = await (await hand_runner(tenant)).claim()
    foreign = {**lease, "lease_token": stranger.token}
    assert (
        await stranger.call(foreign, "heartbeat", stage="running", progress=1, message="")
    ).status_code == 401
    other = await tenant.new_run()
    second = await (await hand_runner(tenant)).claim()
    assert second["release_run_id"] == other[0]
    mixed = {**second, "lease_token": lease["lease_token"]}
    assert (await stranger.call(mixed, "source-token")).status_code == 403
    assert (await stranger.report(lease, result_body(second))).status_code == 403
    assert (await tenant.system.run(run_id))["status"] == "running"


async def test_scenario_34_closing_the_pull_request_stops_the_whole_process_tree(
    tenant: Tenant, tmp_path: Path, pipe: Pipe
) -> None:
    state = await register(tenant, tmp_path)
    _, sha = await tenant.new_run()
    runner = await start_runner(tenant, tmp_path, state, hanging(pipe.path))
    pids = [int(await pipe.line()), int(await pipe.line())]
    started = get_running_loop().time()
    await tenant.close()
    limit = HEARTBEAT_SECONDS + GRACE_SECONDS + SLACK_SECONDS
    assert all(await asyncio.gather(*(gone(pid, timeout_seconds=limit) for pid in pids)))
    assert get_running_loop().time() - started < limit
    line = await runner.line("stopped: the lease is cancelled")
    assert "pull_request_closed" in line
    await tenant.concluded(sha, "neutral")
    assert await runner.stop() == 0
    assert list((tmp_path / "work").glob("*")) == []


async def test_scenario_35_cancelled_stays_cancelled_when_the_success_arrives(tenant: Tenant) -> None:
    run_id, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    await tenant.close()
    check = await tenant.concluded(sha, "neutral")
    assert (await runner.report(lease)).json()["outcome"] == "late"
    run = await tenant.system.run(run_id)
    assert (run["status"], run["decision"]) == ("cancelled", None)
    _, other = await tenant.new_run()
    await tenant.check(other, lambda one: one["status"] == "queued")
    (after,) = tenant.checks(sha)
    assert after == check


async def test_scenario_41_a_runner_without_its_server_works_until_the_lease_ends_and_then_stops(
    tmp_path: Path, pipe: Pipe
) -> None:
    async with open_system(LEASE_SECONDS="4") as system:
        tenant = await system.tenant()
        state = await register(tenant, tmp_path)
        run_id, sha = await tenant.new_run()
        runner = await start_runner(tenant, tmp_path, state, hanging(pipe.path))
        pids = [int(await pipe.line()), int(await pipe.line())]
        await system.server.kill()
        assert not await gone(pids[0], timeout_seconds=2)
        assert all(await asyncio.gather(*(gone(pid, timeout_seconds=10) for pid in pids)))
        await runner.line("the lease ran out by this machine's clock")
        await system.restart()
        assert (await system.run(run_id))["status"] in {"running", "queued"}  # swept by now, or not yet
        newer = tenant.commit({**BOARD, "x": b""})
        await tenant.push(newer)
        await tenant.concluded(sha, "neutral")
        await tenant.check(newer, lambda one: one["status"] == "in_progress")
        await runner.stop()


async def test_scenario_42_heartbeats_go_on_while_kicad_takes_every_core(
    tenant: Tenant, tmp_path: Path
) -> None:
    state = await register(tenant, tmp_path)
    _, sha = await tenant.new_run()
    burn = "for i in 1 2 3 4 5 6; do timeout 7 sh -c 'while :; do :; done' & done; wait\n"
    script = f"case $out in */drc-*) {burn};; esac\n{reporting(tmp_path)}"
    runner = await start_runner(tenant, tmp_path, state, script)
    await tenant.concluded(sha, "success")
    assert not [one for one in runner.errors if "heartbeat not answered" in one]
    await runner.stop()


async def test_scenario_62_pages_that_hang_on_the_database_hold_up_neither_intake_nor_heartbeats(
    tenant: Tenant,
) -> None:
    run_id, _ = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    async with tenant.system.database() as owner:
        async with owner.transaction():
            await owner.execute("LOCK TABLE runner_results IN ACCESS EXCLUSIVE MODE")
            pages = [asyncio.create_task(tenant.system.client.get(f"/runs/{run_id}")) for _ in range(40)]
            async with asyncio.timeout(10), tenant.system.database() as looker:
                while await _waiting(looker) < READER_CONNECTIONS:
                    pass
            sha = tenant.commit()
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                assert (await runner.beat(lease, "running"))["directive"] == "continue"
                run_of(await tenant.open(sha))
                assert (await tenant.system.client.get("/readyz")).status_code == 200
        codes = {(await one).status_code for one in pages}
    assert codes <= {200, 503}
    assert 200 in codes


async def _waiting(looker: object) -> int:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND application_name = 'boardreadyops pages'"
    )
    count: int = await looker.fetchval(query)  # type: ignore[attr-defined]
    return count
