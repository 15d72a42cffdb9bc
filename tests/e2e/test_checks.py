"""What GitHub is told, whatever GitHub and the network do (scenarios 45-50, 54, 58)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from boardreadyops.standin.calls import Answer
from boardreadyops.standin.checks import Checks
from tests.e2e.runners import hand_runner, register, reporting, start_runner
from tests.e2e.system import Json, Tenant, finding, open_system, result_body, run_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAX_SUMMARY_BYTES = 65_535
MANY = 20
FOUR_BYTES = "\N{GRINNING FACE}"


def check_runs(tenant: Tenant) -> str:
    return f"/repos/{tenant.repository.full_name}/check-runs"


async def test_scenario_45_a_check_whose_answer_was_lost_is_found_again_not_made_twice(
    tenant: Tenant,
) -> None:
    fault = tenant.system.github.faults.drop("POST", check_runs(tenant))
    _, sha = await tenant.new_run()
    async with asyncio.timeout(10):
        await fault.struck.wait()
    await tenant.close()
    await tenant.concluded(sha, "neutral")
    assert len(tenant.checks(sha)) == 1


async def test_scenario_45_an_update_whose_answer_was_lost_is_read_back(tenant: Tenant) -> None:
    _, sha = await tenant.new_run()
    await tenant.check(sha, lambda one: one["status"] == "queued")
    tenant.system.github.faults.drop("PATCH", f"{check_runs(tenant)}/*", count=2)
    runner = await hand_runner(tenant)
    await runner.report(await runner.claim())
    await tenant.concluded(sha, "success")
    _, other = await tenant.new_run()
    await tenant.check(other, lambda one: one["status"] == "queued")
    (check,) = tenant.checks(sha)
    assert check["history"][-1]["conclusion"] == "success"


async def test_scenario_45_a_server_killed_between_create_and_record_makes_no_second_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create = Checks.create
    async with open_system(GITHUB_TIMEOUT_SECONDS="1") as system:
        tenant = await system.tenant()

        def create_and_kill(checks: Checks, *arguments: object) -> Answer:
            answer = create(checks, *arguments)  # type: ignore[arg-type]
            os.kill(system.server.pid, signal.SIGKILL)
            return answer

        monkeypatch.setattr(Checks, "create", create_and_kill)
        sha = tenant.commit()
        opened = await tenant.open(sha)
        assert await system.server.ended() == -signal.SIGKILL
        monkeypatch.setattr(Checks, "create", create)
        await system.restart()
        await tenant.close()
        await tenant.concluded(sha, "neutral")
        assert len(tenant.checks(sha)) == 1
        run = await system.run(run_of(opened))
        assert tenant.checks(sha)[0]["external_id"] == f"{run['id']}:0:0"


async def test_scenario_46_supersession_and_cancellation_complete_their_checks_as_neutral(
    tenant: Tenant,
) -> None:
    _, first = await tenant.new_run()
    second = tenant.commit()
    successor = run_of(await tenant.push(second))
    replaced = await tenant.concluded(first, "neutral")
    said = replaced["output"]["title"] + replaced["output"]["summary"]
    assert second[:7] in said
    assert f"/runs/{successor}" in said
    await tenant.close()
    cancelled = await tenant.concluded(second, "neutral")
    assert cancelled["output"]["title"] != replaced["output"]["title"]


async def test_scenario_47_what_moved_on_while_a_publish_was_in_flight_ends_with_the_newest(
    tenant: Tenant,
) -> None:
    runner = await hand_runner(tenant)
    fault = tenant.system.github.faults.hold("POST", check_runs(tenant))
    _, sha = await tenant.new_run()
    async with asyncio.timeout(5):
        await fault.struck.wait()
    lease = await runner.claim()
    await runner.beat(lease, "reporting")
    await runner.report(lease)
    fault.release.set()
    check = await tenant.concluded(sha, "success")
    assert [one["conclusion"] for one in check["history"]] == [None, "success"]
    _, other = await tenant.new_run()
    await tenant.check(other, lambda one: one["status"] == "queued")
    assert tenant.checks(sha) == [check]


async def test_scenario_49_thousands_of_findings_in_four_byte_characters_still_complete_the_check(
    tenant: Tenant, tmp_path: Path
) -> None:
    item = {"description": f"Pad {FOUR_BYTES * 200}", "pos": {"x": 1.5, "y": 2}, "uuid": "u"}
    words = FOUR_BYTES * 1_900
    faults = [
        {"type": "clearance", "severity": "error", "description": f"{number} {words}", "items": [item]}
        for number in range(5_000)
    ]
    state = await register(tenant, tmp_path)
    run_id, sha = await tenant.new_run()
    runner = await start_runner(tenant, tmp_path, state, reporting(tmp_path, {"violations": faults}))
    check = await tenant.concluded(sha, "failure")
    assert "5,000 blocking findings" in check["output"]["title"]
    summary = check["output"]["summary"]
    assert 20_000 < len(summary.encode()) <= MAX_SUMMARY_BYTES
    assert "The runner found still more than it reported." in summary
    assert f"/runs/{run_id}" in summary
    page = await tenant.system.client.get(f"/runs/{run_id}")
    assert (page.status_code, FOUR_BYTES in page.text) == (200, True)
    await runner.stop()


async def test_scenario_49_the_largest_result_is_taken_and_a_larger_one_refused(tenant: Tenant) -> None:
    _, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    findings = [finding(FOUR_BYTES * 200, path="amp/amp.kicad_pcb") for _ in range(1_000)]
    body = result_body(lease, decision="fail", summary=FOUR_BYTES * 4_000, findings=findings)
    too_large = await runner.report(lease, body.ljust(1_048_577))
    assert (too_large.status_code, too_large.json()["code"]) == (413, "too_large")
    assert (await runner.report(lease, body.ljust(1_048_576))).json()["outcome"] == "accepted"
    check = await tenant.concluded(sha, "failure")
    assert "1,000 blocking findings" in check["output"]["title"]


@pytest.mark.parametrize(
    ("method", "status", "headers"),
    [
        ("POST", 403, {"retry-after": "1", "x-ratelimit-remaining": "42"}),
        ("POST", 429, {"retry-after": "1"}),
        ("POST", 502, {}),
        ("POST", 401, {}),
        ("PATCH", 404, {}),
        ("PATCH", 503, {"retry-after": "1"}),
    ],
)
async def test_scenario_50_a_refusal_that_passes_only_delays_the_check(
    tenant: Tenant, method: str, status: int, headers: dict[str, str]
) -> None:
    path = check_runs(tenant) + ("" if method == "POST" else "/*")
    tenant.system.github.faults.answer(method, path, status=status, headers=headers)
    _, sha = await tenant.new_run()
    await tenant.check(sha, lambda one: one["status"] == "queued")
    await tenant.close()
    await tenant.concluded(sha, "neutral", timeout_seconds=15)
    assert len(tenant.checks(sha)) == 1


async def test_scenario_50_a_limited_installation_delays_no_other(tenant: Tenant) -> None:
    other = await tenant.system.tenant()
    fault = tenant.system.github.faults.answer(
        "POST", check_runs(tenant), status=403, headers={"retry-after": "600"}
    )
    await tenant.new_run()
    async with asyncio.timeout(5):
        await fault.struck.wait()
    _, sha = await other.new_run()
    await other.check(sha, lambda one: one["status"] == "queued", timeout_seconds=3)


async def test_scenario_54_a_hung_installation_stalls_neither_the_others_nor_the_loop(tenant: Tenant) -> None:
    other = await tenant.system.tenant()
    fault = tenant.system.github.faults.hold("POST", check_runs(tenant), count=100)
    for _ in range(MANY):
        await tenant.open(tenant.commit())
    async with asyncio.timeout(5):
        await fault.struck.wait()
    _, sha = await other.new_run()
    await other.check(sha, lambda one: one["status"] == "queued", timeout_seconds=1.5)
    async with asyncio.timeout(1):
        assert (await tenant.system.client.get("/readyz")).status_code == 200
    tenant.system.github.faults.clear()


async def test_scenario_54_many_pull_requests_on_one_hung_commit_stall_no_other_installation(
    tenant: Tenant,
) -> None:
    other = await tenant.system.tenant()
    fault = tenant.system.github.faults.hold("POST", check_runs(tenant), count=100)
    shared = tenant.commit()
    for _ in range(MANY):
        await tenant.open(shared)
    async with asyncio.timeout(5):
        await fault.struck.wait()
    _, sha = await other.new_run()
    try:
        await other.check(sha, lambda one: one["status"] == "queued", timeout_seconds=1.5)
    finally:
        tenant.system.github.faults.clear()


async def test_scenario_58_poisoned_rows_hold_up_nobody(tenant: Tenant) -> None:
    other = await tenant.system.tenant()
    for _ in range(MANY):
        await tenant.open(tenant.commit())
    poison: Json = {"status": "queued", "queued_at": "not a time", "superseded_by": "nobody"}
    async with tenant.system.database() as connection:
        await connection.execute(
            "UPDATE publications SET payload = $2, desired_seq = desired_seq + 1, available_at = now()"
            " WHERE installation_id = $1",
            *(tenant.installation_id, poison),
        )
    await tenant.system.server.line("event=send_broken kind=publication")
    _, sha = await other.new_run()
    await other.check(sha, lambda one: one["status"] == "queued", timeout_seconds=3)
    assert "Traceback" not in tenant.system.server.text


async def test_scenario_68_a_check_says_what_it_has_to_and_nothing_ran_unseen(tenant: Tenant) -> None:
    _, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    checks = [
        {"name": "drc", "project": "amp", "state": "passed"},
        {"name": "erc", "project": "amp", "state": "could_not_run", "reason": "kicad-cli was killed"},
    ]
    lease = await runner.claim()
    body = result_body(lease, status="failed", decision="error", summary="Could not check", checks=checks)
    assert (await runner.report(lease, body)).json()["outcome"] == "accepted"
    check = await tenant.concluded(sha, "failure")
    assert "could not" in check["output"]["title"].lower()
    assert "could not run" in check["output"]["summary"]
    assert json.dumps(check["output"]).count("0 violations") == 0
