"""Faults on order, and a completed check that will not change."""

import asyncio
import http.client

import pytest

from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

from .conftest import APP_ID, OWNER, SECRET, Client, HandClock, public_pem

CHECK_RUNS = f"/repos/{OWNER}/amp/check-runs"


async def test_the_next_requests_fail_as_ordered(
    client: Client, github: StandIn, repository: Repository
) -> None:
    body = {"name": "x", "head_sha": repository.refs["refs/heads/main"]}
    fault = github.faults.answer(
        "POST", "/repos/*/check-runs", status=403, headers={"Retry-After": "7"}, count=2
    )
    first = await client.call("POST", CHECK_RUNS, body)
    other = await client.call("GET", f"/repos/{OWNER}/amp")
    second = await client.call("POST", CHECK_RUNS, body)
    third = await client.call("POST", CHECK_RUNS, body)
    assert [one.status for one in (first, other, second, third)] == [403, 200, 403, 201]
    assert first.headers["retry-after"] == "7"
    assert fault.struck.is_set()
    assert len(github.check_runs) == 1
    assert github.violations == []


async def test_a_dropped_answer_was_executed(client: Client, github: StandIn, repository: Repository) -> None:
    body = {"name": "x", "head_sha": repository.refs["refs/heads/main"]}
    github.faults.drop("POST", "/repos/*/check-runs")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        await client.call("POST", CHECK_RUNS, body)
    assert [one["name"] for one in github.check_runs] == ["x"]
    assert (await client.call("POST", CHECK_RUNS, body)).status == 201
    assert [one.status for one in github.served if one.method == "POST" and one.path == CHECK_RUNS] == [
        0,
        201,
    ]


async def test_a_held_request_waits_for_its_release(
    client: Client, github: StandIn, repository: Repository
) -> None:
    body = {"name": "x", "head_sha": repository.refs["refs/heads/main"]}
    fault = github.faults.hold("POST", "*")
    waiting = asyncio.create_task(client.call("POST", CHECK_RUNS, body))
    async with asyncio.timeout(10):
        await fault.struck.wait()
    assert github.check_runs == []
    assert (await client.call("GET", f"/repos/{OWNER}/amp")).status == 200
    fault.release.set()
    assert (await waiting).status == 201


async def test_git_and_minting_can_fail_too(client: Client, github: StandIn) -> None:
    github.faults.answer("GET", "/*.git/*", status=502)
    github.faults.answer("POST", "*/access_tokens", status=500)
    git = await client.call("GET", f"/{OWNER}/amp.git/info/refs?service=git-upload-pack")
    assert (git.status, (await client.mint()).status) == (502, 500)
    assert (await client.mint()).status == 201


async def test_cleared_faults_release_what_they_hold(client: Client, github: StandIn) -> None:
    fault = github.faults.hold("GET", "*")
    github.faults.answer("GET", "*", status=500, count=9)
    waiting = asyncio.create_task(client.call("GET", f"/repos/{OWNER}/amp"))
    async with asyncio.timeout(10):
        await fault.struck.wait()
    github.faults.clear()
    assert (await waiting).status == 200
    assert (await client.call("GET", f"/repos/{OWNER}/amp")).status == 200


async def test_a_stand_in_that_keeps_completed_checks_answers_200_and_changes_nothing(
    private_key: str, clock: HandClock
) -> None:
    async with StandIn.serve(
        app_id=APP_ID,
        public_key_pem=public_pem(private_key),
        webhook_secret=SECRET,
        clock=clock,
        completed_checks="keep",
    ) as github:
        repository = github.create_repository(51_000_001, OWNER, "amp", commits=[({"a": b"b"}, "Start")])
        client = Client(github, private_key, clock)
        client.token = (await client.mint()).body["token"]
        body = {"name": "x", "head_sha": repository.refs["refs/heads/main"], "conclusion": "neutral"}
        created = await client.call("POST", CHECK_RUNS, body)
        changed = await client.call("PATCH", f"{CHECK_RUNS}/{created.body['id']}", {"conclusion": "success"})
        assert (changed.status, changed.body["conclusion"]) == (200, "neutral")


async def test_two_stand_ins_live_side_by_side_and_leave_nothing(private_key: str, github: StandIn) -> None:
    async with StandIn.serve(
        app_id=APP_ID, public_key_pem=public_pem(private_key), webhook_secret=SECRET
    ) as other:
        folder = other.create_repository(1, OWNER, "amp").folder
        assert other.api_url != github.api_url
        assert folder.exists()
    assert not folder.exists()
