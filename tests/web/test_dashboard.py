"""The pages over real HTTP: what each state says, the timeline, escaping, freshness, the wall."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

from boardreadyops.config import Secret
from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.runs import cancel_release_run, transition_release_run_state
from boardreadyops.domain.lifecycle import REASONS
from boardreadyops.web.assets import assets
from tests.web.conftest import SHA_A, SHA_B, OpenSite, Site, pull_request

MAX_STYLE_BYTES = 20_000
TOKEN = "operator-token-of-some-length"
FINDING = {"rule": "clearance", "severity": "error", "message": "VIN too near GND", "fingerprint": "1"}


async def page(site: Site, path: str) -> str:
    answer = await site.http.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def headline(text: str) -> str:
    found = re.search(r'<h1 id="headline">([^<]*)</h1>', text)
    assert found is not None
    return found[1]


async def end_as(app_database: Database, run_id: str, status: str, reason_code: str) -> None:
    async with app_database.transaction() as connection:
        moved = await transition_release_run_state(
            connection,
            release_run_id=UUID(run_id),
            expected_run_status="queued",
            expected_run_version=0,
            expected_execution_attempt_id=None,
            next_run_status=status,
            reason_code=reason_code,
        )
    assert moved.outcome == "applied"


async def test_an_empty_overview_says_what_will_happen(site: Site) -> None:
    assert "No board has been asked about yet." in await page(site, "/")


async def test_every_state_reads_differently_on_its_page_and_in_the_list(
    site: Site, app_database: Database
) -> None:
    runner = await site.runner()
    seen: dict[str, str] = {}
    for number, decision in enumerate(("pass", "fail", "error"), start=1):
        seen[decision] = await site.run(SHA_A, number=number)
        lease = await site.lease(runner)
        await site.report(lease, lease.result(decision, findings=[FINDING] if decision == "fail" else []))
    seen["superseded"] = await site.run(SHA_A, number=4)
    await site.run(SHA_B, number=4, action="synchronize", minute=1)
    seen["running"] = await site.run(SHA_A, number=5)
    await site.lease(runner)  # takes the newer commit of pull request 4
    await site.lease(runner)
    seen["queued"] = await site.run(SHA_A, number=6)
    seen["timed_out"] = await site.run(SHA_A, number=7)
    await end_as(app_database, seen["timed_out"], "timed_out", "queue_deadline_exceeded")
    seen["cancelled"] = await site.run(SHA_A, number=8)
    async with app_database.transaction() as connection:
        await cancel_release_run(
            connection,
            installation_id=1,
            release_run_id=UUID(seen["cancelled"]),
            reason_code="cancelled_by_user",
            cancelled_by="mira",
        )
    wanted = {
        "pass": ("Ready to fabricate", "ready"),
        "fail": ("Not ready: 1 blocking finding", "not ready"),
        "error": ("Could not check this board", "could not check"),
        "superseded": (f"Replaced by commit {SHA_B[:7]}", "superseded"),
        "running": ("Checking: a runner took it", "checking"),
        "queued": ("Waiting for a runner", "waiting"),
        "timed_out": ("Timed out: no eligible runner took the board in time", "timed out"),
        "cancelled": ("Cancelled by mira", "cancelled"),
    }
    overview = await page(site, "/")
    for name, (words, state) in wanted.items():
        assert headline(await page(site, f"/runs/{seen[name]}")).startswith(words)
        row = overview.split(f'id="run-{seen[name]}"')[1].split("</tr>")[0]
        assert re.search(rf"</svg>\s*{state}</span>", row), name
        assert words in row


async def test_a_superseded_run_links_its_successor(site: Site) -> None:
    older = await site.run(SHA_A)
    newer = await site.run(SHA_B, action="synchronize", minute=1)
    assert f'href="/runs/{newer}"' in await page(site, f"/runs/{older}")


async def test_a_finished_run_shows_findings_checks_tools_and_the_runner(site: Site) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease(await site.runner("bench-7"))
    checks = [
        {"name": "drc", "project": "power-board", "state": "failed"},
        {"name": "erc", "project": "power-board", "state": "could_not_run", "reason": "no schematic"},
    ]
    place = {"path": "power-board.kicad_pcb", "position": {"x_mm": 101.6, "y_mm": 73.66, "layer": "F.Cu"}}
    document = lease.result(
        "fail", findings=[FINDING | place], checks=checks, tool_versions={"kicad-cli": "9.0.8"}
    )
    await site.report(lease, document)
    text = await page(site, f"/runs/{run_id}")
    for words in (
        "VIN too near GND",
        "power-board.kicad_pcb · 101.60, 73.66 mm on F.Cu",
        "found blocking faults",
        "could not run",
        "no schematic",
        "KiCad 9.0.8",
        "bench-7",
        "check is being created",
        "attempt 1 on bench-7",
    ):
        assert words in text


async def test_the_timeline_shows_the_allowed_columns_and_a_plain_sentence(site: Site) -> None:
    run_id = await site.run(SHA_A)
    lease = await site.lease()
    await site.report(lease, lease.result("pass"))
    table = (await page(site, f"/runs/{run_id}")).split('<table class="transitions')[1].split("</table>")[0]
    assert re.findall(r'<th scope="col">([^<]*)', table) == [
        "When",
        "What happened, and its code",
        "Entity, attempt",
        "Status",
        "Version",
    ]
    codes = re.findall(r"<code>([a-z_]+)</code>", table)
    assert codes == ["runner_result_completed", "runner_result_completed", "runner_lease_claimed"]
    assert all(REASONS[code] in table for code in codes)
    assert lease.answer["execution_attempt_id"] in table
    assert re.findall(r"<b>(\w+)</b>", table) == ["completed", "completed", "running"]


async def test_a_run_without_transitions_says_so(site: Site) -> None:
    assert "No versioned transition is on record" in await page(site, f"/runs/{await site.run(SHA_A)}")


@pytest.mark.by_hand
async def test_older_transitions_that_are_not_shown_are_mentioned(
    site: Site, owner_connection: Connection
) -> None:
    run_id = await site.run(SHA_A)
    await owner_connection.execute(
        """INSERT INTO release_run_transition_events (installation_id, repository_id, release_run_id, entity_type,
               from_status, to_status, from_version, to_version, reason_code, occurred_at, hash)
           SELECT 1, 10, $1, 'release_run', 'queued', 'running', n, n + 1, 'made.up-reason', now(), sha256('x')
           FROM generate_series(0, 100) AS n""",
        UUID(run_id),
    )
    text = await page(site, f"/runs/{run_id}")
    assert text.count('<tr class="release_run">') == 100
    assert "Only the newest 100 are shown" in text
    assert "Made up reason." in text
    assert "100 → 101" in text
    assert "0 → 1<" not in text


async def test_scenario_73_hostile_text_is_shown_and_never_obeyed(site: Site) -> None:
    evil = "<script>alert(1)</script>\"'&{{13337*3}}\x1b[31m\u202e"
    payload = pull_request(SHA_A)
    run_id = (await site.deliver("pull_request", payload)).json()["actions"][0]["release_run_id"]
    lease = await site.lease(await site.runner(evil[:90]))
    await site.http.post(
        f"{lease.path}/heartbeat", json={"stage": "running", "message": evil}, headers=lease.headers
    )
    running = await page(site, f"/runs/{run_id}")
    hostile = FINDING | {"rule": evil, "message": evil, "path": evil, "sheet": evil}
    checks = [{"name": evil[:90], "project": evil, "state": "could_not_run", "reason": evil}]
    tools = {evil[:90]: evil}
    document = lease.result(
        "fail", summary=f"x\n{evil}", findings=[hostile], checks=checks, tool_versions=tools
    )
    assert (await site.report(lease, document)).status_code == 200
    finished = await page(site, f"/runs/{run_id}")
    for text in (running, finished):
        assert "&lt;script&gt;" in text
        assert "<script>alert" not in text
        assert "40011" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert not re.search(r"\son\w+=|javascript:|<style|\sstyle=", text)


async def test_every_answer_bears_the_security_headers(site: Site) -> None:
    for path in ("/", "/runs/nothing", "/static/style.css", "/healthz", "/api/v1/runs"):
        headers = (await site.http.get(path)).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


async def test_head_answers_like_get_without_the_body(site: Site) -> None:
    for path, status in (("/", 200), ("/healthz", 200), ("/runs/nothing", 404), ("/webhooks/github", 405)):
        answer = await site.http.head(path)
        assert (answer.status_code, answer.content) == (status, b"")


async def test_nothing_comes_from_elsewhere_and_the_style_stays_small(site: Site) -> None:
    text = await page(site, f"/runs/{await site.run(SHA_A)}")
    loaded = re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="([^"]*)"', text)
    assert all(address.startswith("/static/") for address in loaded)
    assert {address.removeprefix("/static/") for address in loaded} == set(assets())
    assert len(assets()["style.css"].content) <= MAX_STYLE_BYTES
    etag = (await site.http.get("/static/style.css")).headers["etag"]
    again = await site.http.get("/static/style.css", headers={"If-None-Match": etag})
    assert again.status_code == 304


async def test_the_fragment_is_the_page_and_is_not_sent_twice(site: Site) -> None:
    run_id = await site.run(SHA_A)
    text = await page(site, f"/runs/{run_id}")
    etag = re.search(r'data-etag="([^"]*)"', text)
    assert etag is not None
    known = {"If-None-Match": etag[1].replace("&#34;", '"')}
    assert (await site.http.get(f"/runs/{run_id}/live", headers=known)).status_code == 304
    lease = await site.lease()
    running = await site.http.get(f"/runs/{run_id}/live", headers=known)
    assert (running.status_code, 'data-live="open"' in running.text) == (200, True)
    assert running.text.lstrip().startswith('<div id="live"')
    await site.report(lease, lease.result("pass"))
    ended = await site.http.get(f"/runs/{run_id}/live", headers=known)
    assert 'data-live="final"' in ended.text
    assert headline(ended.text) == "Ready to fabricate"


async def test_the_overview_pages_and_filters(site: Site) -> None:
    for number in range(1, 53):
        await site.run(SHA_A, number=number)
    await site.run(SHA_A, number=1, repository_id=11, name="sensor-node")
    first = await page(site, "/")
    older = re.search(r'id="older" href="([^"]*)"', first)
    assert older is not None
    assert first.count("<tr id=") == 50
    rest = await page(site, older[1].replace("&amp;", "&"))
    assert rest.count("<tr id=") == 3
    assert 'id="newer"' in rest
    mine = await page(site, "/?repository=acme/sensor-node")
    assert mine.count("<tr id=") == 1
    assert "No run fits." in await page(site, "/?status=failed")


@pytest.mark.parametrize("path", ["/runs/00000000-0000-4000-8000-000000000000", "/runs/x", "/nowhere"])
async def test_a_page_that_is_not_there_is_kind(site: Site, path: str) -> None:
    answer = await site.http.get(path)
    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.text
    assert "/runs/" not in answer.text


async def test_from_elsewhere_a_page_asks_for_the_token_and_a_browser_may_send_it(
    open_site: OpenSite,
) -> None:
    async with open_site(host="192.0.2.1", operator_token=Secret(TOKEN)) as site:
        locked = await site.http.get("/")
        opened = await site.http.get("/", auth=("anybody", TOKEN))
        wrong = await site.http.get("/", auth=("anybody", "wrong"))
        broken = await site.http.get("/", headers={"Authorization": "Basic ???"})
    assert [locked.status_code, opened.status_code, wrong.status_code, broken.status_code] == [
        401,
        200,
        401,
        401,
    ]
    assert locked.headers["www-authenticate"].startswith("Basic")
    assert "These pages are for the operator" in locked.text


async def test_without_a_token_set_the_page_says_what_to_do(open_site: OpenSite) -> None:
    async with open_site(host="192.0.2.1") as site:
        answer = await site.http.get("/")
    assert answer.status_code == 401
    assert "set BOARDREADYOPS_OPERATOR_TOKEN" in answer.text


async def test_without_the_database_a_page_says_that_nothing_is_lost(
    site: Site, reader_database: Database
) -> None:
    await reader_database.close()
    answer = await site.http.get("/")
    assert answer.status_code == 503
    assert "cannot be looked up right now" in answer.text
    assert (await site.deliver("ping", {})).status_code == 202
