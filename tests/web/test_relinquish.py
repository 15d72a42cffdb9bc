"""Giving a lease back over real HTTP."""

from __future__ import annotations

import uuid

import httpx
import pytest

from boardreadyops.db.pool import Connection
from boardreadyops.runner.credentials import lease_token
from tests.web.conftest import SHA_A, SHA_B, Lease, Site


async def give_back(site: Site, lease: Lease, reason: str = "shutdown", **changes: object) -> httpx.Response:
    asked: dict[str, object] = {"reason": reason, "message": "", "needs": [], **changes}
    return await site.http.post(f"{lease.path}/relinquish", json=asked, headers=lease.headers)


async def status(owner: Connection, run_id: str) -> str:
    found: str = await owner.fetchval("SELECT status FROM release_runs WHERE id = $1", uuid.UUID(run_id))
    return found


@pytest.mark.parametrize("reason", ["shutdown", "capacity", "operator", "job_error", "capability"])
async def test_a_run_that_is_given_back_waits_again_and_the_repeat_is_replayed(
    reason: str, site: Site, owner_connection: Connection
) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    first, again = await give_back(site, lease, reason), await give_back(site, lease, reason)
    assert (first.status_code, first.json()) == (200, {"outcome": "accepted"})
    assert (again.status_code, again.json()) == (200, {"outcome": "replayed"})
    assert first.headers["cache-control"] == "no-store"
    assert await status(owner_connection, run_id) == "queued"
    attempt = await owner_connection.fetchval("SELECT status FROM release_run_attempts")
    assert attempt == ("failed" if reason == "job_error" else "stale")
    beat = await site.http.post(f"{lease.path}/heartbeat", json={"stage": "running"}, headers=lease.headers)
    assert (beat.json()["state"], beat.json()["directive"]) == ("relinquished", "stop")


async def test_what_was_missing_and_the_message_are_kept(site: Site, owner_connection: Connection) -> None:
    await site.run(SHA_A)
    needs = ["arch=x86_64", "gpu", "kicad>=9"]
    await give_back(site, await site.lease(), "capability", needs=needs, message="no\0 GPU")
    assert await owner_connection.fetchval("SELECT needs FROM release_runs") == needs
    assert await owner_connection.fetchval("SELECT message FROM runner_leases") == "no\ufffd GPU"


async def test_the_token_of_an_ended_lease_still_serves_and_changes_nothing(
    site: Site, owner_connection: Connection
) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    await site.run(SHA_B, action="synchronize", minute=1)
    answer = await give_back(site, lease)
    assert (answer.status_code, answer.json()) == (200, {"outcome": "stale"})
    assert await status(owner_connection, run_id) == "superseded"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": "tired"}, "reason"),
        ({"reason": None}, "reason"),
        ({"message": "x" * 501}, "message"),
        ({"needs": ["Kicad 9"]}, "needs.0"),
        ({"needs": ["kicad>9"]}, "needs.0"),
        ({"needs": ["gpu"] * 21}, "needs"),
        ({"needs": "gpu"}, "needs"),
    ],
)
async def test_a_wrong_field_is_named_and_nothing_changes(
    changes: dict[str, object], field: str, site: Site, owner_connection: Connection
) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    asked = {"reason": "shutdown", **changes}
    answer = await site.http.post(f"{lease.path}/relinquish", json=asked, headers=lease.headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith(f"{field}:")
    assert await status(owner_connection, run_id) == "running"


async def test_who_does_not_hold_the_lease_is_refused(site: Site, owner_connection: Connection) -> None:
    run_id = await site.run(SHA_A, number=1)
    await site.run(SHA_B, number=2)
    runner = await site.runner()
    one, other = await site.lease(runner), await site.lease(runner)
    nowhere = uuid.uuid4()
    unknown = lease_token(site.services.secret_key, nowhere).reveal()
    for path, headers, expected in (
        (one.path, {}, (401, "unknown_token")),
        (one.path, runner, (401, "unknown_token")),
        (one.path, other.headers, (403, "another_lease")),
        (f"/runner/v1/leases/{nowhere}", {"Authorization": f"Bearer {unknown}"}, (404, "not_found")),
    ):
        answer = await site.http.post(f"{path}/relinquish", json={"reason": "shutdown"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == expected
    assert await status(owner_connection, run_id) == "running"


async def test_a_body_of_more_than_its_bound_is_refused(site: Site) -> None:
    await site.run(SHA_A)
    answer = await give_back(site, await site.lease(), padding="x" * 70_000)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
