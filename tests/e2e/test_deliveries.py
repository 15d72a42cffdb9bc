"""Webhooks, order and identity, through the whole system (scenarios 1-4, 9-11, 14, 16, 70)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.e2e.runners import hand_runner
from tests.e2e.system import System, Tenant, open_system, run_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

MANY = 12
MAX_LARGE_BODY_GROWTH_BYTES = 200 * 1024 * 1024


async def test_scenario_01_two_deliveries_of_one_event_make_one_run_and_one_check(tenant: Tenant) -> None:
    sha = tenant.commit()
    first = await tenant.open(sha)
    second = await tenant.system.again(first)
    assert second.status_code == 202
    (action,) = second.json()["actions"]
    assert action == {"kind": "enqueue", "release_run_id": run_of(first), "outcome": "existing"}
    await tenant.close()
    await tenant.concluded(sha, "neutral")
    assert (len(await tenant.runs()), len(tenant.checks())) == (1, 1)


async def test_scenario_02_five_deliveries_of_one_event_at_once_make_one_run(tenant: Tenant) -> None:
    sha = tenant.commit()
    lost = await tenant.open(sha, lost=True)
    answers = await asyncio.gather(*(tenant.system.again(lost) for _ in range(5)))
    assert [one.status_code for one in answers] == [202] * 5
    outcomes = sorted(one.json()["actions"][0]["outcome"] for one in answers)
    assert outcomes == ["created", *["existing"] * 4]
    await tenant.check(sha, lambda one: one["status"] == "queued")
    assert (len(await tenant.runs()), len(tenant.checks())) == (1, 1)


async def test_scenario_02_one_delivery_five_times_at_once_is_taken_once(tenant: Tenant) -> None:
    lost = await tenant.open(tenant.commit(), lost=True)
    again = [tenant.system.github.redeliver(lost.delivery_id) for _ in range(5)]
    answers = await asyncio.gather(*again)
    assert sorted(one.answer["status"] for one in answers) == ["accepted", *["duplicate"] * 4]
    assert len({json.dumps(one.answer["actions"], sort_keys=True) for one in answers}) == 1


async def test_scenario_03_a_delayed_older_delivery_is_superseded_by_the_newer_head(tenant: Tenant) -> None:
    older, newer = tenant.commit(), tenant.commit()
    lost = await tenant.open(older, lost=True)
    head = run_of(await tenant.push(newer))
    late = await tenant.system.github.redeliver(lost.delivery_id)
    outcomes = {one["kind"]: one.get("outcome") for one in late.answer["actions"]}
    assert outcomes == {"enqueue": "superseded", "confirm": None}
    check = await tenant.concluded(older, "neutral")
    assert newer[:7] in check["output"]["title"] + check["output"]["summary"]
    assert (await tenant.system.run(run_of(late)))["superseded_by"] == head
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    assert lease["commit_sha"] == newer
    assert (await runner.report(lease)).json()["outcome"] == "accepted"
    await tenant.concluded(newer, "success")
    assert (await runner.ask()).status_code == 204
    assert [len(tenant.checks(sha)) for sha in (older, newer)] == [1, 1]


async def test_scenario_03_two_changes_within_one_second_are_settled_by_asking_github(tenant: Tenant) -> None:
    first, second, moment = tenant.commit(), tenant.commit(), tenant.system.clock.tick()
    github = tenant.system.github
    await github.open_pull_request(tenant.repository, head_commit=first, updated_at=moment)
    github.faults.answer("GET", f"/repos/{tenant.repository.full_name}/pulls/1", status=502)
    pushed = await github.push_to_pull_request(tenant.repository, 1, head_commit=second, updated_at=moment)
    assert pushed.answer["actions"] == [{"kind": "confirm"}]
    await tenant.concluded(first, "neutral")
    await tenant.check(second, lambda one: one["status"] == "queued")
    closed = await github.close_pull_request(tenant.repository, 1, updated_at=moment)
    assert closed.answer["actions"] == [{"kind": "confirm"}]
    await tenant.concluded(second, "neutral")
    assert {one["status"] for one in await tenant.runs()} == {"superseded", "cancelled"}


async def test_scenario_04_a_head_that_returns_is_asked_anew_under_a_fresh_check(tenant: Tenant) -> None:
    a, b = tenant.commit(), tenant.commit()
    run_a = run_of(await tenant.open(a))
    run_b = run_of(await tenant.push(b))
    await tenant.concluded(a, "neutral")
    assert run_of(await tenant.push(a)) == run_a
    run = await tenant.system.run(run_a)
    assert (run["status"], run["retry_number"]) == ("queued", 1)
    await tenant.concluded(b, "neutral")
    await tenant.check(a, lambda one: one["external_id"].endswith(":1:0") and one["status"] == "queued")
    old, fresh = tenant.checks(a)
    assert (old["conclusion"], fresh["conclusion"]) == ("neutral", None)
    assert (await tenant.system.run(run_b))["superseded_by"] == run_a
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    assert (lease["commit_sha"], lease["retry_number"]) == (a, 1)
    await runner.report(lease)
    await tenant.concluded(a, "success")
    assert await tenant.system.reasons(run_a) == [
        *("newer_commit", "head_returned", "runner_lease_claimed", "runner_result_completed")
    ]


async def test_scenario_05_a_decision_stands_when_its_head_returns(tenant: Tenant) -> None:
    a, b = tenant.commit(), tenant.commit()
    run_a = run_of(await tenant.open(a))
    runner = await hand_runner(tenant)
    await runner.report(await runner.claim())
    await tenant.concluded(a, "success")
    await tenant.push(b)
    await tenant.push(a)
    await tenant.concluded(b, "neutral")
    run = await tenant.system.run(run_a)
    assert (run["status"], run["decision"], run["retry_number"]) == ("completed", "pass", 0)
    assert (await runner.ask()).status_code == 204
    assert len(tenant.checks(a)) == 1


async def test_scenario_06_the_same_commit_in_two_pull_requests_is_two_runs_with_a_check_each(
    tenant: Tenant,
) -> None:
    sha = tenant.commit()
    first, second = run_of(await tenant.open(sha)), run_of(await tenant.open(sha))
    assert first != second
    await tenant.check(sha, lambda one: one["external_id"].startswith(first))
    await tenant.check(sha, lambda one: one["external_id"].startswith(second))
    await tenant.close(number=1)
    await tenant.check(
        sha, lambda one: one["external_id"].startswith(first) and one["conclusion"] == "neutral"
    )
    assert (await tenant.system.run(second))["status"] == "queued"
    assert len(tenant.checks(sha)) == 2


async def test_scenario_07_a_draft_made_ready_is_checked_once(tenant: Tenant) -> None:
    sha = tenant.commit()
    moment = tenant.system.clock.tick()
    opened = await tenant.system.github.open_pull_request(
        tenant.repository, head_commit=sha, draft=True, updated_at=moment
    )
    ready = opened.payload
    tenant.system.clock.tick()
    ready["action"] = "ready_for_review"
    ready["pull_request"] |= {
        "draft": False,
        "updated_at": tenant.system.clock().strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    answer = await tenant.system.post("pull_request", json.dumps(ready).encode())
    assert answer.json()["actions"][0] == {
        "kind": "enqueue", "release_run_id": run_of(opened), "outcome": "existing",
    }  # fmt: skip
    assert len(await tenant.runs()) == 1


async def test_scenario_09_a_closed_pull_request_ends_its_run_and_a_reopened_one_is_asked_again(
    tenant: Tenant,
) -> None:
    run_id, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    await tenant.close()
    check = await tenant.concluded(sha, "neutral")
    assert "closed" in (check["output"]["title"] + check["output"]["summary"]).lower()
    beat = await runner.beat(lease, "running")
    assert (beat["state"], beat["directive"], beat["reason"]) == ("cancelled", "stop", "pull_request_closed")
    late = await runner.report(lease)
    assert (late.status_code, late.json()["outcome"]) == (202, "late")
    await tenant.system.github.reopen_pull_request(
        tenant.repository, 1, updated_at=tenant.system.clock.tick()
    )
    again = await runner.claim()
    assert (again["release_run_id"], again["retry_number"]) == (run_id, 1)
    await runner.report(again)
    await tenant.concluded(sha, "success")
    assert [one["conclusion"] for one in tenant.checks(sha)] == ["neutral", "success"]


async def test_scenario_09_an_uninstalled_app_ends_its_work_and_owes_nothing(tenant: Tenant) -> None:
    run_id, sha = await tenant.new_run()
    await tenant.check(sha, lambda one: one["status"] == "queued")
    tenant.system.clock.tick()
    gone = await tenant.system.github.uninstall(tenant.installation_id)
    assert {one["kind"] for one in gone.answer["actions"]} == {"metadata", "cancel"}
    assert (await tenant.system.run(run_id))["reason_code"] == "installation_removed"
    line = await tenant.system.server.line(f"run={run_id} status=cancelled")
    assert "error_class=gone" in line
    async with tenant.system.database() as connection:
        query = "SELECT closed_code FROM publications WHERE release_run_id = $1"
        assert await connection.fetchval(query, run_id) == "gone"


async def suspended(tenant: Tenant) -> tuple[str, str]:
    """A run that a suspension has cancelled, and GitHub could not be told: (run id, SHA)."""
    run_id, sha = await tenant.new_run()
    await tenant.check(sha, lambda one: one["status"] == "queued")
    tenant.system.clock.tick()
    await tenant.system.github.suspend(tenant.installation_id)
    await tenant.system.server.line(f"run={run_id} status=cancelled")
    return run_id, sha


async def test_scenario_09_a_suspension_ends_the_work_and_nothing_new_is_taken(tenant: Tenant) -> None:
    run_id, _ = await suspended(tenant)
    assert (await tenant.system.run(run_id))["reason_code"] == "installation_suspended"
    ignored = await tenant.push(tenant.commit())
    assert (ignored.status, ignored.answer["reason"]) == (202, "disabled")


async def test_scenario_09_what_a_suspension_held_back_is_published_when_it_ends(tenant: Tenant) -> None:
    _, sha = await suspended(tenant)
    tenant.system.clock.tick()
    await tenant.system.github.unsuspend(tenant.installation_id)
    await tenant.concluded(sha, "neutral", timeout_seconds=3)


async def test_scenario_09_the_head_of_an_open_pull_request_is_asked_again_when_a_suspension_ends(
    tenant: Tenant,
) -> None:
    run_id, sha = await suspended(tenant)
    tenant.system.clock.tick()
    await tenant.system.github.unsuspend(tenant.installation_id)
    await tenant.check(sha, lambda one: one["external_id"] == f"{run_id}:1:0" and one["status"] == "queued")
    assert (await tenant.system.run(run_id))["status"] == "queued"


async def test_scenario_10_a_pull_request_before_its_installation_event_is_not_dropped(
    shared_system: System,
) -> None:
    tenant = await shared_system.tenant(known=False)
    run_id, sha = await tenant.new_run()
    await tenant.check(sha, lambda one: one["status"] == "queued")
    late = await shared_system.github.redeliver(tenant.installed.delivery_id)
    assert late.status == 202
    run = await shared_system.run(run_id)
    assert (run["status"], run["repository"]) == ("queued", tenant.repository.full_name)


async def test_scenario_11_an_old_suspension_told_again_changes_nothing(tenant: Tenant) -> None:
    tenant.system.clock.tick()
    old = await tenant.system.github.suspend(tenant.installation_id)
    tenant.system.clock.tick()
    await tenant.system.github.unsuspend(tenant.installation_id)
    again = await tenant.system.again(old)
    assert again.json()["actions"] == []
    run_id, sha = await tenant.new_run()
    await tenant.check(sha, lambda one: one["status"] == "queued")
    assert (await tenant.system.run(run_id))["repository"] == tenant.repository.full_name


async def test_scenario_11_a_delayed_event_does_not_give_a_renamed_repository_its_old_name_back(
    tenant: Tenant,
) -> None:
    delayed = await tenant.open(tenant.commit(), lost=True)
    old = tenant.repository.full_name
    renamed = json.loads(delayed.body.replace(b'"name":"amp"', b'"name":"pre-amp"').replace(
        old.encode(), f"{tenant.repository.owner.login}/pre-amp".encode()
    ))  # fmt: skip
    renamed["repository"] |= {"updated_at": tenant.system.clock.tick().strftime("%Y-%m-%dT%H:%M:%SZ")}
    renamed["pull_request"]["updated_at"] = renamed["repository"]["updated_at"]
    renamed["number"] = renamed["pull_request"]["number"] = 2
    run = (await tenant.system.post("pull_request", json.dumps(renamed).encode())).json()
    await tenant.system.github.redeliver(delayed.delivery_id)
    shown = await tenant.system.run(run["actions"][0]["release_run_id"])
    assert shown["repository"].endswith("/pre-amp")


async def test_scenario_14_a_poison_payload_is_refused_with_its_reason_and_blocks_nobody(
    tenant: Tenant,
) -> None:
    good = await tenant.open(tenant.commit(), lost=True)
    payload = good.payload
    payload["pull_request"]["head"]["sha"] = "; DROP TABLE refs"
    refused = await tenant.system.post("pull_request", json.dumps(payload).encode())
    assert (refused.status_code, refused.json()["code"]) == (400, "malformed_payload")
    assert "head.sha" in refused.json()["detail"]
    assert "DROP" not in refused.text
    nested = await tenant.system.post("pull_request", b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
    assert (nested.status_code, nested.json()["code"]) == (400, "malformed_json")
    nul = json.loads(good.body)
    nul["pull_request"]["title"] = nul["pull_request"]["base"]["ref"] = "a\0b\ud800"
    assert (await tenant.system.post("pull_request", json.dumps(nul).encode())).status_code == 202
    assert len(await tenant.runs()) == 1


async def test_scenario_16_a_large_body_is_taken_in_bounded_memory_and_a_larger_one_refused() -> None:
    async with open_system() as system:
        tenant = await system.tenant()
        lost = await tenant.open(tenant.commit(), lost=True)
        before = peak_bytes(system.server.pid)
        filler = b'{"filler":"' + b"x" * (24 * 1024 * 1024) + b'",' + lost.body[1:]
        taken = await system.post("pull_request", filler)
        assert (taken.status_code, taken.json()["status"]) == (202, "accepted")
        larger = await system.post("pull_request", b" " * (26 * 1024 * 1024))
        assert (larger.status_code, larger.json()["code"]) == (413, "too_large")
        forged = "sha256=" + "0" * 64
        many = [system.post("pull_request", filler, X_Hub_Signature_256=forged) for _ in range(MANY)]
        assert {one.status_code for one in await asyncio.gather(*many)} == {401}
        assert peak_bytes(system.server.pid) - before < MAX_LARGE_BODY_GROWTH_BYTES
        assert len(await tenant.runs()) == 1


async def test_scenario_70_forged_truncated_and_wrongly_encoded_requests_leave_no_trace(
    tenant: Tenant,
) -> None:
    system, body = tenant.system, (await tenant.open(tenant.commit(), lost=True)).body
    forged = await system.post("pull_request", body, X_Hub_Signature_256="sha256=" + "0" * 64)
    assert forged.status_code == 401
    assert (await system.post("pull_request", body, X_Hub_Signature_256="sha1=00")).status_code == 401
    assert (await system.post("pull_request", body[:-1])).status_code == 400
    assert (await system.post("pull_request", b"\xff\xfe")).status_code == 400
    assert (await system.post("pull_request", body, Content_Type="text/plain")).status_code == 415
    assert (await system.post("pull_request", body, X_GitHub_Delivery="x" * 101)).status_code == 400
    assert (await system.post("Pull Request", body)).status_code == 400
    for path in ("/leases", "/registrations", f"/leases/{tenant.installation_id}/heartbeat"):
        for content in (b"", b"{", b"[1]", b"\xff" * 10, b"x" * 100_000):
            answer = await system.client.post(f"/runner/v1{path}", content=content)
            assert 400 <= answer.status_code < 500, (path, content[:9], answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
    assert await tenant.runs() == []


def peak_bytes(pid: int) -> int:
    """The most memory a process ever held."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")
