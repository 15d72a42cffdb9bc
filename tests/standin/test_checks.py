"""Check runs: GitHub's rules, kept and broken."""

import asyncio
from typing import Any

import pytest

from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

from .conftest import APP_ID, OWNER, Client, Reply

CHECK_RUNS = f"/repos/{OWNER}/amp/check-runs"
OUTPUT = {"title": "Ready", "summary": "All good"}
ANNOTATION = {
    "path": "board.kicad_pcb",
    "start_line": 1,
    "end_line": 1,
    "annotation_level": "failure",
    "message": "Clearance 0.1 mm",
}


@pytest.fixture
def sha(repository: Repository) -> str:
    return repository.refs["refs/heads/main"]


async def create(client: Client, sha: str, **fields: Any) -> Reply:
    return await client.call("POST", CHECK_RUNS, {"name": "BoardReadyOps", "head_sha": sha, **fields})


async def test_a_check_run_lives_from_queued_to_success(client: Client, github: StandIn, sha: str) -> None:
    created = await create(client, sha, external_id="run:0:0")
    assert (created.status, created.body["status"], created.body["conclusion"]) == (201, "queued", None)
    path = f"{CHECK_RUNS}/{created.body['id']}"
    running = await client.call(
        "PATCH", path, {"status": "in_progress", "output": {"title": "t", "summary": "s"}}
    )
    done = await client.call("PATCH", path, {"conclusion": "success", "output": OUTPUT})
    read = await client.call("GET", path)
    assert (running.status, running.body["status"]) == (200, "in_progress")
    assert (done.body["status"], done.body["conclusion"]) == ("completed", "success")
    assert done.body["completed_at"] == "2026-03-01T12:00:00Z"
    assert read.body == done.body
    assert read.body["external_id"] == "run:0:0"
    assert read.body["app"]["id"] == APP_ID
    (kept,) = github.check_runs
    assert [step["status"] for step in kept["history"]] == ["queued", "in_progress", "completed"]
    assert [step["kind"] for step in kept["history"]] == ["created", "updated", "updated"]
    assert kept["history"][0]["arrived_at"] == client.clock()
    assert github.violations == []


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "completed"},
        {"completed_at": "2026-03-01T12:00:00Z"},
        {"conclusion": "stale"},
        {"output": {"title": "t", "summary": "ä" * 40_000}},
        {"output": {"title": "t", "summary": "s", "text": "😀" * 17_000}},
        {"output": {"title": "", "summary": "s"}},
        {"details_url": "ftp://example.com"},
        {"actions": [{"label": "", "description": "d", "identifier": "i"}]},
        {"output": {**OUTPUT, "annotations": [{**ANNOTATION, "start_line": 0}]}},
        {"output": {**OUTPUT, "annotations": [{**ANNOTATION, "start_line": 3, "end_line": 2}]}},
        {"output": {**OUTPUT, "annotations": [{**ANNOTATION, "end_line": 2, "start_column": 1}]}},
        {"output": {**OUTPUT, "annotations": [{**ANNOTATION, "title": "t" * 256}]}},
        {"output": {**OUTPUT, "annotations": [{**ANNOTATION, "message": "m" * 65_537}]}},
    ],
)
async def test_what_github_refuses_beyond_its_description_is_refused(
    client: Client, github: StandIn, sha: str, fields: dict[str, Any]
) -> None:
    reply = await create(client, sha, **fields)
    assert (reply.status, reply.body["message"]) == (422, "Validation Failed")
    assert github.check_runs == []
    assert github.violations == []


@pytest.mark.parametrize(
    "fields",
    [
        {"conclusion": "excellent"},
        {"status": "running"},
        {"output": {"title": "t", "summary": "s" * 65_536}},
        {"output": {"summary": "s"}},
        {"output": {**OUTPUT, "annotations": [ANNOTATION] * 51}},
        {"actions": [{"label": "l", "description": "d", "identifier": "i"}] * 4},
        {"actions": [{"label": "l" * 21, "description": "d", "identifier": "i"}]},
        {"actions": [{"label": "l", "description": "d" * 41, "identifier": "i"}]},
        {"actions": [{"label": "l", "description": "d", "identifier": "i" * 21}]},
        {"started_at": "yesterday"},
        {"name": 5},
    ],
)
async def test_what_githubs_description_forbids_is_refused_and_recorded(
    client: Client, github: StandIn, sha: str, fields: dict[str, Any]
) -> None:
    reply = await create(client, sha, **fields)
    assert reply.status == 422
    assert github.check_runs == []
    (violation,) = github.violations
    assert (violation.kind, violation.method, violation.path) == ("request", "POST", CHECK_RUNS)


async def test_the_byte_limit_is_exact(client: Client, sha: str) -> None:
    good = await create(client, sha, output={"title": "t", "summary": "ä" * 32_767 + "a"})
    bad = await create(client, sha, output={"title": "t", "summary": "ä" * 32_768})
    assert (good.status, bad.status) == (201, 422)


async def test_an_unknown_commit_is_refused(client: Client) -> None:
    reply = await create(client, "f" * 40)
    assert reply.status == 422
    assert "No commit found for SHA" in reply.body["errors"][0]["message"]


async def test_an_update_to_completed_needs_a_conclusion(client: Client, github: StandIn, sha: str) -> None:
    path = f"{CHECK_RUNS}/{(await create(client, sha)).body['id']}"
    assert (await client.call("PATCH", path, {"status": "completed"})).status == 422
    assert github.check_runs[0]["status"] == "queued"


async def test_annotations_append_and_are_paged(client: Client, github: StandIn, sha: str) -> None:
    first = await create(client, sha, output={**OUTPUT, "annotations": [ANNOTATION] * 50})
    path = f"{CHECK_RUNS}/{first.body['id']}"
    more = {
        "output": {**OUTPUT, "annotations": [{**ANNOTATION, "message": f"number {n}"} for n in range(20)]}
    }
    second = await client.call("PATCH", path, more)
    assert second.body["output"]["annotations_count"] == 70
    page = await client.call("GET", f"{path}/annotations?per_page=30&page=3")
    assert [one["message"] for one in page.body] == [f"number {n}" for n in range(10, 20)]
    assert 'rel="prev"' in page.headers["link"]
    assert 'rel="next"' not in page.headers["link"]
    assert github.violations == []


async def test_latest_shows_the_newest_check_of_each_name(client: Client, github: StandIn, sha: str) -> None:
    old = (await create(client, sha, conclusion="neutral")).body["id"]
    new = (await create(client, sha, conclusion="success")).body["id"]
    other = (await create(client, sha, name="Another")).body["id"]
    listing = f"/repos/{OWNER}/amp/commits/{sha}/check-runs"
    latest = await client.call("GET", listing)
    everything = await client.call("GET", f"{listing}?filter=all&check_name=BoardReadyOps&app_id={APP_ID}")
    queued = await client.call("GET", f"{listing}?status=queued")
    by_branch = await client.call("GET", f"/repos/{OWNER}/amp/commits/heads%2Fmain/check-runs")
    assert [one["id"] for one in latest.body["check_runs"]] == [other, new]
    assert [one["id"] for one in everything.body["check_runs"]] == [new, old]
    assert [one["id"] for one in queued.body["check_runs"]] == [other]
    assert by_branch.body == latest.body
    assert github.violations == []


async def test_a_long_list_is_paged_with_links(client: Client, sha: str) -> None:
    ids = [(await create(client, sha, name=f"check {n}")).body["id"] for n in range(5)]
    listing = f"/repos/{OWNER}/amp/commits/{sha}/check-runs"
    first = await client.call("GET", f"{listing}?per_page=2")
    last = await client.call("GET", f"{listing}?per_page=2&page=3")
    beyond = await client.call("GET", f"{listing}?per_page=2&page=9")
    assert (first.body["total_count"], [one["id"] for one in first.body["check_runs"]]) == (5, ids[:2:-1])
    assert f'{listing}?per_page=2&page=2>; rel="next"' in first.headers["link"]
    assert [one["id"] for one in last.body["check_runs"]] == [ids[0]]
    assert beyond.body["check_runs"] == []


async def test_only_the_app_that_created_a_check_may_change_it(
    client: Client, github: StandIn, repository: Repository, sha: str
) -> None:
    foreign = github.foreign_check_run(repository, 15_368, {"name": "build", "head_sha": sha})
    refused = await client.call("PATCH", f"{CHECK_RUNS}/{foreign}", {"conclusion": "success"})
    read = await client.call("GET", f"{CHECK_RUNS}/{foreign}")
    assert (refused.status, read.status, read.body["status"]) == (403, 200, "queued")


async def test_a_check_of_another_repository_is_not_found(client: Client, github: StandIn, sha: str) -> None:
    github.create_repository(51_000_001, OWNER, "other")
    check = (await create(client, sha)).body["id"]
    assert (await client.call("GET", f"/repos/{OWNER}/other/check-runs/{check}")).status == 404
    assert (await client.call("GET", f"{CHECK_RUNS}/1")).status == 404


async def test_a_completed_check_can_be_reopened(client: Client, sha: str) -> None:
    path = f"{CHECK_RUNS}/{(await create(client, sha, conclusion='failure')).body['id']}"
    reopened = await client.call("PATCH", path, {"status": "in_progress"})
    assert (reopened.body["status"], reopened.body["conclusion"]) == ("in_progress", None)
    assert reopened.body["completed_at"] is None


async def test_a_check_names_the_open_pull_request_of_its_commit(
    client: Client, github: StandIn, repository: Repository, sha: str
) -> None:
    await github.open_pull_request(repository, head_commit=sha, number=7)
    created = await create(client, sha)
    assert [one["number"] for one in created.body["pull_requests"]] == [7]
    assert github.violations == []


async def test_waiting_for_a_check_needs_no_sleep(client: Client, github: StandIn, sha: str) -> None:
    waiting = asyncio.create_task(
        github.check_run(lambda one: one["conclusion"] == "success", timeout_seconds=10)
    )
    created = await create(client, sha)
    assert not waiting.done()
    await client.call("PATCH", f"{CHECK_RUNS}/{created.body['id']}", {"conclusion": "success"})
    assert (await waiting)["id"] == created.body["id"]


async def test_waiting_in_vain_says_what_there_was(client: Client, github: StandIn, sha: str) -> None:
    await create(client, sha)
    with pytest.raises(TimeoutError, match=r"BoardReadyOps.*queued"):
        await github.check_run(lambda one: one["conclusion"] == "success", timeout_seconds=0.01)


async def test_a_person_can_read_a_check_and_nothing_in_it_is_html(client: Client, sha: str) -> None:
    output = {"title": "<b>bold</b>", "summary": "<script>alert(1)</script>\n* one"}
    created = await create(client, sha, conclusion="failure", output=output)
    page = await client.call("GET", f"/{OWNER}/amp/runs/{created.body['id']}")
    assert created.body["html_url"].endswith(f"/{OWNER}/amp/runs/{created.body['id']}")
    assert page.status == 200
    assert "failure" in page.body
    assert "&lt;script&gt;" in page.body
    assert "<script>" not in page.body
    assert "<b>bold" not in page.body
    assert (await client.call("GET", f"/{OWNER}/amp/runs/1")).status == 404
