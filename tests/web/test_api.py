"""The reading API over real HTTP: lists, one run, its transitions, and who may read."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from boardreadyops.config import Secret
from boardreadyops.db.migrate import Fit
from boardreadyops.db.pages import RunFilter, find_run, list_runs, reading
from boardreadyops.db.pool import Connection, Database
from boardreadyops.web.app import WebServices
from tests.web.conftest import SHA_A, SHA_B, SHA_C, OpenSite, Site, site_over

TOKEN = "operator-token-of-some-length"


async def runs(site: Site, **query: Any) -> list[str]:
    answer = await site.http.get("/api/v1/runs", params=query)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


async def test_runs_are_listed_newest_first_and_filtered(site: Site) -> None:
    one = await site.run(SHA_A, number=1)
    two = await site.run(SHA_B, number=2)
    three = await site.run(SHA_C, number=3, repository_id=11, name="sensor-node")
    lease = await site.lease()
    await site.report(lease, lease.result("pass"))
    assert await runs(site) == [three, two, one]
    assert await runs(site, repository="Acme/Power-Board") == [two, one]
    assert await runs(site, repository="acme/power-board", pull_request=2) == [two]
    assert await runs(site, sha=SHA_C[:7].upper()) == [three]
    assert await runs(site, status="completed") == [one]
    assert await runs(site, decision="pass") == [one]
    assert await runs(site, ref="refs/pull/2/head") == [two]
    assert await runs(site, since="2000-01-01T00:00:00Z") == [three, two, one]
    assert await runs(site, repository="acme/unknown") == []


async def test_a_cursor_goes_on_and_back_whatever_has_arrived_since(site: Site) -> None:
    made = [await site.run(SHA_A, number=number) for number in range(1, 6)]
    first = (await site.http.get("/api/v1/runs", params={"limit": 2})).json()
    made.append(await site.run(SHA_A, number=6))
    second = (await site.http.get("/api/v1/runs", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    back = (await site.http.get("/api/v1/runs", params={"limit": 2, "cursor": second["prev_cursor"]})).json()
    top = (await site.http.get("/api/v1/runs", params={"limit": 2, "cursor": back["prev_cursor"]})).json()
    last = (await site.http.get("/api/v1/runs", params={"limit": 2, "cursor": second["next_cursor"]})).json()

    def ids(page: dict[str, Any]) -> list[str]:
        return [item["id"] for item in page["items"]]

    assert ids(first) == ids(back) == [made[4], made[3]]
    assert ids(second) == [made[2], made[1]]
    assert ids(top) == [made[5]]
    assert (ids(last), last["next_cursor"]) == ([made[0]], None)
    assert first["prev_cursor"] is None
    assert top["prev_cursor"] is None


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 101},
        {"limit": 0},
        {"status": "done"},
        {"sha": "xyz"},
        {"pull_request": "1; drop"},
        {"cursor": "nonsense"},
        {"cursor": base64.urlsafe_b64encode(b'["older","2026-01-01",1]').decode()},
        {"repository": "no-slash"},
        {"since": "2026-01-01T00:00:00"},
    ],
)
async def test_a_wrong_parameter_is_a_problem_that_names_it(site: Site, query: dict[str, Any]) -> None:
    answer = await site.http.get("/api/v1/runs", params=query)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert next(iter(query)) in answer.json()["detail"]


async def test_a_run_tells_its_state_and_is_not_sent_twice(site: Site) -> None:
    run_id = await site.run(SHA_A)
    answer = await site.http.get(f"/api/v1/runs/{run_id}")
    run = answer.json()
    assert (run["repository"], run["status"], run["version"]) == ("acme/power-board", "queued", 0)
    assert (run["freshness"], run["retry_number"], run["superseded_by"]) == ("current", 0, None)
    etag = answer.headers["etag"]
    assert (await site.http.get(f"/api/v1/runs/{run_id}", headers={"If-None-Match": etag})).status_code == 304
    await site.lease()
    changed = await site.http.get(f"/api/v1/runs/{run_id}", headers={"If-None-Match": etag})
    assert (changed.status_code, changed.json()["status"]) == (200, "running")


async def test_transitions_show_the_allowed_columns_alone(site: Site) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    await site.report(lease, lease.result("pass"))
    page = (await site.http.get(f"/api/v1/runs/{run_id}/transitions")).json()
    assert page["truncated"] is False
    assert [(row["entity_type"], row["to_status"]) for row in page["items"]] == [
        ("release_run", "completed"),
        ("execution_attempt", "completed"),
        ("release_run", "running"),
    ]
    assert set(page["items"][0]) == {
        "entity_type",
        "execution_attempt_id",
        "from_status",
        "to_status",
        "from_version",
        "to_version",
        "reason_code",
        "occurred_at",
    }
    short = (await site.http.get(f"/api/v1/runs/{run_id}/transitions", params={"limit": 1})).json()
    assert (len(short["items"]), short["truncated"]) == (1, True)


@pytest.mark.parametrize("path", ["", "/transitions"])
async def test_an_unknown_run_is_not_found(site: Site, path: str) -> None:
    answer = await site.http.get(f"/api/v1/runs/00000000-0000-4000-8000-000000000000{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.headers["content-type"] == "application/problem+json"


async def test_scenario_69_another_tenants_run_is_not_found_with_row_security_as_the_only_guard(
    site: Site, reader_database: Database
) -> None:
    from uuid import UUID

    mine = UUID(await site.run(SHA_A, installation_id=1))
    other = UUID(await site.run(SHA_B, installation_id=2, repository_id=20, name="secret-board"))
    async with reading(reader_database, frozenset({1})) as connection:
        assert await find_run(connection, mine) is not None
        assert await find_run(connection, other) is None
        found = await list_runs(connection, RunFilter(), position=None, limit=10)
        assert [run.id for run in found.runs] == [mine]
    async with reading(reader_database, frozenset()) as connection:
        assert await find_run(connection, mine) is None
    async with reader_database.connection() as connection:
        assert await find_run(connection, mine) is None


async def test_from_elsewhere_reading_needs_the_operators_token(open_site: OpenSite) -> None:
    async with open_site(database_url=Secret("postgresql://x"), operator_token=Secret(TOKEN)) as site:
        without = await site.http.get("/api/v1/runs")
        wrong = await site.http.get("/api/v1/runs", headers={"Authorization": "Bearer wrong"})
        right = await site.http.get("/api/v1/runs", headers={"Authorization": f"Bearer {TOKEN}"})
    assert [without.status_code, wrong.status_code, right.status_code] == [401, 401, 200]
    assert without.headers["www-authenticate"].startswith("Bearer")
    assert "BOARDREADYOPS_OPERATOR_TOKEN" in without.json()["detail"]


async def test_without_an_operators_token_the_answer_says_which_setting_is_missing(
    open_site: OpenSite,
) -> None:
    async with open_site(host="0.0.0.0") as site:
        answer = await site.http.get("/api/v1/runs")
    assert answer.status_code == 401
    assert "set BOARDREADYOPS_OPERATOR_TOKEN" in answer.json()["detail"]


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"X-Forwarded-For": "203.0.113.9"}, {"Host": "[::1"}]
)
async def test_a_proxied_or_renamed_request_is_not_the_local_operator(
    site: Site, headers: dict[str, str]
) -> None:
    answer = await site.http.get("/api/v1/runs", headers=headers)
    assert answer.status_code == 401


async def test_the_description_is_served_and_no_interactive_pages_are(site: Site) -> None:
    description = (await site.http.get("/api/v1/openapi.json")).json()
    assert {"/api/v1/runs", "/api/v1/runs/{run_id}", "/api/v1/runs/{run_id}/transitions"} == set(
        description["paths"]
    )
    assert (await site.http.get("/docs")).status_code == 404


async def test_health_and_readiness(site: Site, app_database: Database) -> None:
    assert (await site.http.get("/healthz")).status_code == 200
    assert (await site.http.get("/readyz")).json() == {"status": "ready"}
    await app_database.close()
    away = await site.http.get("/readyz")
    assert (away.status_code, away.json()["reason"]) == (503, "database_unavailable")
    assert (await site.http.get("/healthz")).status_code == 200


async def test_a_schema_that_does_not_fit_is_not_ready(site: Site, owner_connection: Any) -> None:
    await owner_connection.execute("DELETE FROM schema_migrations WHERE version = 29")
    answer = await site.http.get("/readyz")
    assert (answer.status_code, answer.json()["reason"]) == (503, "database_older")


async def test_an_unexpected_failure_tells_nothing_and_is_in_the_log(
    services: WebServices, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(connection: Connection) -> Fit:
        raise RuntimeError("hidden words")

    async with site_over(replace(services, schema_fit=broken)) as site:
        answer = await site.http.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "hidden words" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert any(record.exc_info and "hidden words" in str(record.exc_info[1]) for record in caplog.records)
