"""The runner protocol over real HTTP: registration, leases, heartbeats, source tokens, results."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from boardreadyops.config import Secret
from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.runners import find_registration, rotate_runner_token
from boardreadyops.github.requests import Failure
from boardreadyops.runner.credentials import lease_token, token_digest
from boardreadyops.runner.protocol import LeaseAnswer, ResultAnswer, read_message
from boardreadyops.web.app import WorkSignal
from tests.web.conftest import SHA_A, SHA_B, Lease, Mint, OpenSite, Site, pull_request


@dataclass(frozen=True, slots=True)
class Token:
    secret: Secret
    expires_at: datetime


async def ask(site: Site, runner: dict[str, str], **changes: object) -> tuple[int, dict[str, object] | None]:
    asked = {"request_id": str(uuid.uuid4()), "capabilities": [], "wait_seconds": 0, **changes}
    answer = await site.http.post("/runner/v1/leases", json=asked, headers=runner)
    return answer.status_code, answer.json() if answer.content else None


async def test_an_enrolment_registers_one_runner_once(site: Site) -> None:
    asked = {"enrollment_token": await site.enrolment(), "name": "bench-1", "version": "0.1.0"}
    first = await site.http.post("/runner/v1/registrations", json=asked)
    again = await site.http.post("/runner/v1/registrations", json=asked)
    assert first.status_code == 201
    assert first.json()["token"].startswith("brr_")
    assert (again.status_code, again.json()["code"]) == (403, "enrollment_refused")


async def test_a_lease_tells_all_that_a_runner_needs(site: Site) -> None:
    run_id = await site.run(SHA_A)
    answer = (await site.lease()).answer
    lease = read_message(LeaseAnswer, json.dumps(answer).encode())
    assert isinstance(lease, LeaseAnswer)
    assert str(lease.release_run_id) == run_id
    assert (lease.commit_sha, lease.ref, lease.pull_request_number) == (SHA_A, "refs/pull/42/head", 42)
    assert lease.repository.clone_url == "https://github.com/acme/power-board.git"
    assert (lease.heartbeat_seconds, lease.retry_number, lease.trust_mode) == (20, 0, "trusted")
    assert 100 < lease.expires_in_seconds <= 120 < lease.maximum_expires_in_seconds


async def test_the_same_request_gets_the_same_lease_and_the_same_token(site: Site) -> None:
    await site.run(SHA_A)
    runner, request_id = await site.runner(), str(uuid.uuid4())
    first_status, first = await ask(site, runner, request_id=request_id)
    again_status, again = await ask(site, runner, request_id=request_id)
    assert first is not None
    assert again is not None
    assert (first_status, again_status) == (201, 200)
    assert (first["lease_id"], first["lease_token"]) == (again["lease_id"], again["lease_token"])


async def test_the_same_request_after_its_lease_ended_is_refused(site: Site) -> None:
    await site.run(SHA_A)
    runner, request_id = await site.runner(), str(uuid.uuid4())
    _, answer = await ask(site, runner, request_id=request_id)
    assert answer is not None
    lease = Lease(answer)
    await site.report(lease, lease.result())
    status, problem = await ask(site, runner, request_id=request_id)
    assert problem is not None
    assert (status, problem["code"]) == (409, "lease_ended")


async def test_nothing_to_do_is_no_content(site: Site) -> None:
    assert await ask(site, await site.runner()) == (204, None)


async def test_a_waiting_runner_gets_work_as_soon_as_it_arrives(site: Site) -> None:
    runner = await site.runner()
    waiting = asyncio.create_task(ask(site, runner, wait_seconds=30))
    async with asyncio.timeout(10):
        run_id = await site.run(SHA_A)
        status, lease = await waiting
    assert lease is not None
    assert (status, lease["release_run_id"]) == (201, run_id)


async def test_a_waiting_runner_gets_work_that_another_server_took_in(
    site: Site, open_site: OpenSite
) -> None:
    async with open_site() as other:
        waiting = asyncio.create_task(ask(other, await site.runner(), wait_seconds=30))
        async with asyncio.timeout(10):
            run_id = await site.run(SHA_A)
            status, lease = await waiting
    assert lease is not None
    assert (status, lease["release_run_id"]) == (201, run_id)


async def test_scenario_62_pages_that_use_up_their_connections_stop_no_runner(
    site: Site, reader_database: Database
) -> None:
    await site.run(SHA_A)
    lease = await site.lease()
    async with AsyncExitStack() as held:
        for _ in range(4):
            await held.enter_async_context(reader_database.connection())
        beat = await site.http.post(
            f"{lease.path}/heartbeat", json={"stage": "running"}, headers=lease.headers
        )
        result = await site.report(lease, lease.result())
    assert (beat.status_code, result.json()["outcome"]) == (200, "accepted")


async def test_waiting_ends_when_the_server_stops(site: Site) -> None:
    waiting = asyncio.create_task(ask(site, await site.runner(), wait_seconds=30))
    async with asyncio.timeout(10):
        site.services.work.close()
        assert await waiting == (204, None)


@pytest.mark.parametrize("token", ["brr_unknown", "brr_unknown brr_unknown", "Bearer"])
async def test_an_unknown_runner_gets_nothing(site: Site, token: str) -> None:
    status, problem = await ask(site, {"Authorization": f"Bearer {token}"})
    assert problem is not None
    assert (status, problem["code"]) == (401, "unknown_token")


async def test_a_revoked_runner_is_told_so(site: Site, owner_connection: Connection) -> None:
    runner = await site.runner()
    await owner_connection.execute("UPDATE runner_registrations SET revoked_at = now()")
    status, problem = await ask(site, runner)
    assert problem is not None
    assert (status, problem["code"]) == (401, "revoked")


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set once a runner waits."""
    begun, wait = asyncio.Event(), WorkSignal.wait

    async def noted(signal: WorkSignal, ticket: asyncio.Event, *, timeout_seconds: float) -> None:
        begun.set()
        await wait(signal, ticket, timeout_seconds=timeout_seconds)

    monkeypatch.setattr(WorkSignal, "wait", noted)
    return begun


async def test_a_token_that_is_rotated_while_it_waits_gets_no_lease(site: Site, waits: asyncio.Event) -> None:
    runner = await site.runner()
    waiting = asyncio.create_task(ask(site, runner, wait_seconds=20))
    await asyncio.wait_for(waits.wait(), 20)
    async with site.services.app_database.transaction() as connection:
        digest = token_digest(Secret(runner["Authorization"].removeprefix("Bearer ")))
        registration = await find_registration(connection, token_digest=digest)
        assert registration is not None
        await rotate_runner_token(connection, registration_id=registration.id, token_digest=bytes(32))
    await site.run(SHA_A)
    status, problem = await asyncio.wait_for(waiting, 20)
    assert problem is not None
    assert (status, problem["code"]) == (401, "unknown_token")


async def test_a_runner_that_left_while_it_waited_gets_no_lease(site: Site, waits: asyncio.Event) -> None:
    waiting = asyncio.create_task(ask(site, await site.runner(), wait_seconds=20))
    await asyncio.wait_for(waits.wait(), 20)
    waiting.cancel()
    await asyncio.wait({waiting})
    run_id = await site.run(SHA_A)
    status, lease = await ask(site, await site.runner("bench-2"), wait_seconds=5)
    assert lease is not None
    assert (status, lease["release_run_id"]) == (201, run_id)


async def test_a_lease_token_opens_no_other_lease(site: Site) -> None:
    await site.run(SHA_A, number=1)
    await site.run(SHA_B, number=2)
    runner = await site.runner()
    one, other = await site.lease(runner), await site.lease(runner)
    beat = {"stage": "running"}
    foreign = await site.http.post(f"{one.path}/heartbeat", json=beat, headers=other.headers)
    forged = await site.http.post(
        f"{one.path}/heartbeat", json=beat, headers={"Authorization": f"Bearer {one.answer['lease_token']}x"}
    )
    assert (foreign.status_code, foreign.json()["code"]) == (403, "another_lease")
    assert (forged.status_code, forged.json()["code"]) == (401, "unknown_token")


async def test_a_lease_that_does_not_exist_is_not_found(site: Site) -> None:
    lease_id = uuid.uuid4()
    token = lease_token(site.services.secret_key, lease_id).reveal()
    answer = await site.http.post(
        f"/runner/v1/leases/{lease_id}/heartbeat",
        json={"stage": "running"},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 404


async def test_a_heartbeat_tells_to_go_on_and_after_the_end_to_stop(site: Site) -> None:
    await site.run(SHA_A)
    lease = await site.lease()
    beat = {"stage": "running", "progress": 40, "message": "DRC"}
    alive = await site.http.post(f"{lease.path}/heartbeat", json=beat, headers=lease.headers)
    await site.run(SHA_B, action="synchronize", minute=1)
    ended = await site.http.post(f"{lease.path}/heartbeat", json=beat, headers=lease.headers)
    assert (alive.json()["state"], alive.json()["directive"]) == ("active", "continue")
    assert (ended.json()["state"], ended.json()["directive"]) == ("superseded", "stop")
    assert (ended.status_code, ended.json()["reason"]) == (200, "newer_commit")


async def test_a_wrong_field_is_named(site: Site) -> None:
    await site.run(SHA_A)
    lease = await site.lease()
    answer = await site.http.post(
        f"{lease.path}/heartbeat", json={"stage": "running", "progress": 101}, headers=lease.headers
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["detail"].startswith("progress:")


async def test_a_source_token_is_for_this_repository_and_reading_alone(open_site: OpenSite) -> None:
    mint = Mint(Token(Secret("ghs_short_lived"), datetime(2026, 1, 2, 13, tzinfo=UTC)))
    async with open_site(github=mint) as site:
        await site.run(SHA_A)
        lease = await site.lease()
        answer = await site.http.post(f"{lease.path}/source-token", headers=lease.headers)
        assert (answer.status_code, answer.json()["token"]) == (200, "ghs_short_lived")
        assert mint.asked == [(1, [10], {"contents": "read"})]
        await site.report(lease, lease.result())
        ended = await site.http.post(f"{lease.path}/source-token", headers=lease.headers)
        assert (ended.status_code, ended.json()["code"]) == (409, "lease_ended")


async def test_a_source_token_that_github_does_not_give_is_a_problem(open_site: OpenSite) -> None:
    async with open_site(github=Mint(Failure("rate_limited", "primary", "wait", 30.0))) as site:
        await site.run(SHA_A)
        lease = await site.lease()
        answer = await site.http.post(f"{lease.path}/source-token", headers=lease.headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")


async def test_without_a_github_app_there_is_no_source_token(site: Site) -> None:
    await site.run(SHA_A)
    lease = await site.lease()
    answer = await site.http.post(f"{lease.path}/source-token", headers=lease.headers)
    assert (answer.status_code, answer.json()["code"]) == (503, "github_not_configured")


async def test_scenario_32_a_result_is_accepted_then_replayed_and_other_content_conflicts(
    site: Site, owner_connection: Connection
) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    findings = [{"rule": "clearance", "severity": "error", "message": "too near", "fingerprint": "1"}]
    document = lease.result("fail", findings=findings, tool_versions={"kicad-cli": "9.0.8"})
    accepted = await site.report(lease, document)
    replayed = await site.report(lease, document)
    conflict = await site.report(lease, lease.result("pass"))
    assert (accepted.status_code, accepted.json()) == (200, {"outcome": "accepted", "audit_id": None})
    assert (replayed.status_code, replayed.json()["outcome"]) == (200, "replayed")
    assert (conflict.status_code, conflict.json()["outcome"]) == (409, "conflict")
    assert isinstance(read_message(ResultAnswer, conflict.content), ResultAnswer)
    assert conflict.json()["audit_id"] is not None
    row = await owner_connection.fetchrow("SELECT status, decision FROM release_runs WHERE id = $1", run_id)
    assert row is not None
    assert (row["status"], row["decision"]) == ("completed", "fail")
    stored = await owner_connection.fetchrow("SELECT error_count, details FROM runner_results")
    assert stored is not None
    assert (stored["error_count"], stored["details"]["findings"][0]["rule"]) == (1, "clearance")


async def test_scenario_31_a_late_result_is_recorded_and_changes_nothing(
    site: Site, owner_connection: Connection
) -> None:
    older = await site.run(SHA_A)
    lease = await site.lease()
    await site.run(SHA_B, action="synchronize", minute=1)
    late = await site.report(lease, lease.result("pass"))
    assert (late.status_code, late.json()["outcome"]) == (202, "late")
    assert late.json()["audit_id"] == await owner_connection.fetchval("SELECT id FROM runner_result_audit")
    status = await owner_connection.fetchval("SELECT status FROM release_runs WHERE id = $1", older)
    assert status == "superseded"


async def test_a_result_speaks_for_its_own_attempt_alone(site: Site) -> None:
    await site.run(SHA_A, number=1)
    await site.run(SHA_B, number=2)
    runner = await site.runner()
    one, other = await site.lease(runner), await site.lease(runner)
    foreign = await site.report(one, other.result())
    retry = await site.report(one, {**one.result(), "retry_id": str(uuid.uuid4())})
    assert (foreign.status_code, foreign.json()["code"]) == (403, "another_lease")
    assert (retry.status_code, retry.json()["detail"][:8]) == (422, "retry_id")


async def test_a_decision_that_does_not_fit_the_status_is_refused(site: Site) -> None:
    await site.run(SHA_A)
    lease = await site.lease()
    answer = await site.report(lease, {**lease.result(), "decision": "error"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


async def test_a_result_of_more_than_a_mebibyte_is_refused(site: Site) -> None:
    await site.run(SHA_A)
    lease = await site.lease()
    answer = await site.report(lease, lease.result(padding=" " * 2**20))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_without_the_database_a_runner_is_told_to_come_again(
    site: Site, app_database: Database
) -> None:
    runner = await site.runner()
    await app_database.close()
    status, problem = await ask(site, runner)
    assert problem is not None
    assert (status, problem["code"]) == (503, "database_unavailable")


async def test_no_answer_to_a_runner_may_be_kept(site: Site) -> None:
    await site.deliver("pull_request", pull_request(SHA_A))
    asked = {"request_id": str(uuid.uuid4())}
    answer = await site.http.post("/runner/v1/leases", json=asked, headers=await site.runner())
    assert answer.headers["cache-control"] == "no-store"
