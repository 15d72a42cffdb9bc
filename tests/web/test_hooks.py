"""Webhook intake over real HTTP: each delivery once, in one transaction, with a stable answer."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlencode

import pytest

from boardreadyops.db.pool import Connection, Database
from boardreadyops.web.hooks import MAX_BODY_BYTES
from tests.web.conftest import (
    SHA_A,
    SHA_B,
    OpenSite,
    Site,
    installation,
    pull_request,
    signed_headers,
)


async def count(connection: Connection, table: str) -> int:
    found: int = await connection.fetchval(f"SELECT count(*) FROM {table}")
    return found


async def test_a_signed_pull_request_becomes_a_run(site: Site, owner_connection: Connection) -> None:
    answer = await site.deliver("pull_request", pull_request(SHA_A), delivery_id="d-1")
    assert answer.status_code == 202
    run = await owner_connection.fetchrow("SELECT * FROM release_runs")
    assert run is not None
    assert answer.json() == {
        "status": "accepted",
        "delivery_id": "d-1",
        "actions": [{"kind": "enqueue", "release_run_id": str(run["id"]), "outcome": "created"}],
    }
    assert (run["commit_sha"], run["ref"], run["status"]) == (SHA_A, "refs/pull/42/head", "queued")
    assert await count(owner_connection, "publications") == 1


async def test_a_redelivery_gets_the_first_answer_again(site: Site, owner_connection: Connection) -> None:
    first = await site.deliver("pull_request", pull_request(SHA_A), delivery_id="d-1")
    again = await site.deliver("pull_request", pull_request(SHA_A), delivery_id="d-1")
    assert again.status_code == 200
    assert again.json() == {**first.json(), "status": "duplicate"}
    assert await count(owner_connection, "release_runs") == 1


async def test_a_delivery_id_reused_for_another_body_stays_the_first(
    site: Site, owner_connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    await site.deliver("pull_request", pull_request(SHA_A), delivery_id="d-1")
    again = await site.deliver("pull_request", pull_request(SHA_B, minute=1), delivery_id="d-1")
    assert (again.status_code, again.json()["status"]) == (200, "duplicate")
    assert await count(owner_connection, "release_runs") == 1
    assert "d-1 came again with another body" in caplog.text


async def test_scenario_01_two_deliveries_of_one_event_make_one_run(
    site: Site, owner_connection: Connection
) -> None:
    first = await site.deliver("pull_request", pull_request(SHA_A), delivery_id="at-organisation")
    second = await site.deliver("pull_request", pull_request(SHA_A), delivery_id="at-repository")
    (created,), (existing,) = first.json()["actions"], second.json()["actions"]
    assert (created["outcome"], existing["outcome"]) == ("created", "existing")
    assert created["release_run_id"] == existing["release_run_id"]
    assert await count(owner_connection, "publications") == 1


async def test_scenario_02_five_deliveries_at_once_make_one_run(
    site: Site, owner_connection: Connection
) -> None:
    answers = await asyncio.gather(*(site.deliver("pull_request", pull_request(SHA_A)) for _ in range(5)))
    outcomes = sorted(answer.json()["actions"][0]["outcome"] for answer in answers)
    assert outcomes == ["created", *["existing"] * 4]
    assert await count(owner_connection, "release_runs") == 1


async def test_a_new_commit_supersedes_the_run_of_the_older(site: Site, owner_connection: Connection) -> None:
    older = await site.run(SHA_A)
    newer = await site.run(SHA_B, action="synchronize", minute=1)
    row = await owner_connection.fetchrow(
        "SELECT status, superseded_by FROM release_runs WHERE id = $1", older
    )
    assert row is not None
    assert (row["status"], str(row["superseded_by"])) == ("superseded", newer)


async def test_scenario_03_a_late_delivery_of_an_older_commit_changes_no_head(site: Site) -> None:
    await site.run(SHA_B, action="synchronize", minute=1)
    late = await site.deliver("pull_request", pull_request(SHA_A, minute=0))
    enqueue, confirm = late.json()["actions"]
    assert (enqueue["kind"], enqueue["outcome"]) == ("enqueue", "superseded")
    assert confirm == {"kind": "confirm"}


async def test_scenario_09_a_closed_pull_request_cancels_its_open_run(site: Site) -> None:
    run_id = await site.run(SHA_A)
    closed = await site.deliver("pull_request", pull_request(SHA_A, action="closed", minute=1))
    assert closed.json()["actions"] == [{"kind": "cancel", "release_run_id": run_id}]


@pytest.mark.parametrize(
    ("action", "reason"), [("deleted", "installation_removed"), ("suspend", "installation_suspended")]
)
async def test_scenario_09_an_installation_that_goes_away_cancels_its_runs(
    site: Site, owner_connection: Connection, action: str, reason: str
) -> None:
    await site.run(SHA_A)
    answer = await site.deliver("installation", installation(action, minute=5))
    assert answer.json()["actions"] == [
        {"kind": "metadata"},
        {"kind": "cancel", "release_run_id": None, "count": 1},
    ]
    assert await owner_connection.fetchval("SELECT reason_code FROM release_runs") == reason
    after = await site.deliver("pull_request", pull_request(SHA_B, action="synchronize", minute=6))
    assert (after.json()["status"], after.json()["reason"]) == ("ignored", "disabled")


async def test_scenario_11_an_old_suspension_flips_nothing(site: Site, owner_connection: Connection) -> None:
    await site.deliver("installation", installation("unsuspend", minute=10))
    run_id = await site.run(SHA_A)
    answer = await site.deliver("installation", installation("suspend", minute=5))
    assert (answer.status_code, answer.json()["actions"]) == (202, [])
    status = await owner_connection.fetchval("SELECT status FROM release_runs WHERE id = $1", run_id)
    assert status == "queued"


async def test_a_ping_is_ignored_and_its_redelivery_is_a_duplicate(site: Site) -> None:
    payload = {"zen": "Design for failure.", "hook_id": 1}
    first = await site.deliver("ping", payload, delivery_id="p-1")
    again = await site.deliver("ping", payload, delivery_id="p-1")
    assert (first.status_code, first.json()["status"], first.json()["reason"]) == (202, "ignored", "ping")
    assert (again.status_code, again.json()["status"], again.json()["reason"]) == (200, "duplicate", "ping")


async def test_a_form_encoded_payload_is_read_too(site: Site) -> None:
    body = urlencode({"payload": json.dumps(pull_request(SHA_A))}).encode()
    headers = signed_headers("pull_request", body) | {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await site.http.post("/webhooks/github", content=body, headers=headers)
    assert (answer.status_code, answer.json()["actions"][0]["outcome"]) == (202, "created")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"X-Hub-Signature-256": ""}, 400, "missing_header"),
        ({"X-GitHub-Delivery": "a b"}, 400, "malformed_header"),
        ({"X-Hub-Signature-256": "sha256=" + "0" * 64}, 401, "bad_signature"),
        ({"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
    ],
)
async def test_scenario_70_a_wrong_request_is_refused_and_leaves_no_trace(
    site: Site, owner_connection: Connection, changes: dict[str, str], status: int, code: str
) -> None:
    body = json.dumps(pull_request(SHA_A)).encode()
    headers = signed_headers("pull_request", body) | changes
    answer = await site.http.post("/webhooks/github", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert await count(owner_connection, "webhook_deliveries") == 0


async def test_a_malformed_payload_is_refused_and_leaves_no_trace(
    site: Site, owner_connection: Connection
) -> None:
    payload = pull_request(SHA_A)
    payload["pull_request"]["head"]["sha"] = "not a commit"
    answer = await site.deliver("pull_request", payload)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_payload")
    assert await count(owner_connection, "webhook_deliveries") == 0


async def test_scenario_16_a_body_of_24_mib_is_taken(site: Site) -> None:
    answer = await site.deliver("pull_request", pull_request(SHA_A) | {"padding": " " * 24 * 2**20})
    assert (answer.status_code, answer.json()["actions"][0]["outcome"]) == (202, "created")


async def test_scenario_16_a_body_of_26_mib_is_refused_by_its_announced_length(site: Site) -> None:
    body = b" " * (MAX_BODY_BYTES + 1)
    answer = await site.http.post("/webhooks/github", content=body, headers=signed_headers("ping", b""))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_scenario_16_a_body_that_grows_beyond_the_limit_is_refused_as_it_arrives(site: Site) -> None:
    async def endless() -> object:
        for _ in range(MAX_BODY_BYTES // 2**20 + 1):
            yield b" " * 2**20

    headers = signed_headers("ping", b"")
    answer = await site.http.post("/webhooks/github", content=endless(), headers=headers)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_scenario_16_large_bodies_wait_for_a_place_and_small_ones_do_not(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boardreadyops.web.app.MAX_LARGE_BODIES", 0)
    monkeypatch.setattr("boardreadyops.web.bodies.PLACE_WAIT_SECONDS", 0.01)
    async with open_site() as site:
        large = await site.deliver("pull_request", pull_request(SHA_A) | {"padding": " " * 2**20})
        small = await site.deliver("pull_request", pull_request(SHA_A))
    assert (large.status_code, large.json()["code"]) == (503, "busy")
    assert large.headers["retry-after"]
    assert small.json()["actions"][0]["outcome"] == "created"


async def test_size_comes_before_headers_and_headers_before_the_secret(open_site: OpenSite) -> None:
    async with open_site(github_webhook_secret=None) as site:
        large = await site.http.post("/webhooks/github", content=b" " * (MAX_BODY_BYTES + 1))
        bare = await site.http.post("/webhooks/github", content=b"{}")
        whole = await site.deliver("ping", {})
    assert [large.status_code, bare.status_code, whole.status_code] == [413, 400, 503]
    assert whole.headers["retry-after"]
    assert whole.json()["code"] == "webhook_secret_missing"


async def test_both_secrets_count_while_one_replaces_the_other(open_site: OpenSite) -> None:
    from boardreadyops.config import Secret

    settings = {"github_webhook_secret": Secret("new"), "github_webhook_secret_previous": Secret("old")}
    async with open_site(**settings) as site:
        answers = [await site.deliver("ping", {}, secret=secret) for secret in ("new", "old", "older")]
    assert [answer.status_code for answer in answers] == [202, 202, 401]


async def test_without_the_database_github_is_told_to_come_again(
    site: Site, app_database: Database, owner_connection: Connection
) -> None:
    await app_database.close()
    answer = await site.deliver("pull_request", pull_request(SHA_A))
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert await count(owner_connection, "webhook_deliveries") == 0


async def test_a_repository_of_another_installation_is_not_moved_by_a_mention(site: Site) -> None:
    await site.run(SHA_A)
    answer = await site.deliver("pull_request", pull_request(SHA_B, installation_id=2, minute=1))
    assert answer.json()["status"] == "ignored"
    assert answer.json()["reason"] == "repository_of_another_installation"
