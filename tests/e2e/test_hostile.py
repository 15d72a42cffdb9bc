"""Secrets that must not show, and texts and paths from outside that must do nothing (scenarios 72, 73, 74)."""

from __future__ import annotations

import base64
import json
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from boardreadyops.standin.git_store import set_ref
from tests.e2e.programs import Pipe
from tests.e2e.runners import bearer, enrol, hand_runner, register, reporting, start_runner
from tests.e2e.system import BOARD, Json, Tenant, finding, open_system, private_key_pem, result_body, run_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
MARKDOWN = "[free](https://evil.example) ![x](https://evil.example/x.png) @everyone #1 `a` **b** | c\n# d"
TERMINAL = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\nsecond line\u202eback\u2066"
HOSTILE = f"{EVIL} {MARKDOWN} {TERMINAL}"


class Danger(HTMLParser):
    """Notes the elements and attributes of a page that run or fetch something foreign."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if (
                name.startswith("on")
                or "evil.example" in (value or "")
                or (value or "").startswith("javascript:")
            ):
                self.found.append(f"{tag} {name}={value}")
        if tag == "script" and not (dict(attributes).get("src") or "").startswith("/static/"):
            self.found.append(tag)
        if tag in {"iframe", "object", "embed", "base"}:
            self.found.append(tag)


def dangers(page: str) -> list[str]:
    parser = Danger()
    parser.feed(page)
    return parser.found


async def test_scenario_72_secrets_are_in_no_log_no_row_no_answer_and_no_process_list(
    tmp_path: Path, pipe: Pipe
) -> None:
    secret_key, operator_token = "k3y-" * 12, "operator-token-of-this-test"
    async with open_system(SECRET_KEY=secret_key, OPERATOR_TOKEN=operator_token) as system:
        tenant = await system.tenant()
        enrolment = await enrol(tenant)
        hand = await hand_runner(tenant)
        state = await register(tenant, tmp_path)
        sha = tenant.commit()
        first = run_of(await tenant.open(sha))
        lease = await hand.claim()
        source = (await hand.call(lease, "source-token")).json()["token"]
        await hand.report(lease)
        listing = f"ps -eww -o args >{tmp_path}/processes; echo listed >{pipe.path}\n"
        sha = tenant.commit()
        await tenant.open(sha)
        runner = await start_runner(tenant, tmp_path, state, listing + reporting(tmp_path))
        assert await pipe.line() == "listed"
        await tenant.concluded(sha, "success")
        for content in (b"{", operator_token.encode()):
            await system.client.post("/runner/v1/leases", content=content, headers=bearer(hand.token))
            await system.client.post("/runner/v1/leases", content=content, headers=bearer(operator_token))
        await runner.stop()
        secrets = {
            "webhook secret": system.webhook_secret,
            "secret key": secret_key,
            "operator token": operator_token,
            "private key": private_key_pem().decode().splitlines()[3],
            "enrolment token": enrolment,
            "registration token": hand.token,
            "runner's registration token": json.loads(state.read_text())["token"],
            "lease token": lease["lease_token"],
            "source token": source,
            "source token as git sends it": base64.b64encode(f"x-access-token:{source}".encode()).decode(),
            "database password": (system.folder / "data" / "postgres.password").read_text().strip(),
        }
        pages = [
            await system.client.get(path) for path in ("/", f"/runs/{first}", "/api/v1/runs", "/nothing")
        ]
        places = {
            "serve": system.server.text,
            "runner": runner.text,
            "postgres.log": (system.folder / "data" / "postgres.log").read_text(),
            "process list": (tmp_path / "processes").read_text(),
            "answers": "".join(one.text + str(one.headers) for one in pages),
            "rows": await every_row(tenant),
            "checks": json.dumps(tenant.checks(), default=str),
        }
        assert "fake-kicad-cli" in places["process list"]
        shown = [(name, place) for name, text in secrets.items() for place in places if text in places[place]]
        assert shown == []


async def every_row(tenant: Tenant) -> str:
    """Everything in the database, as text."""
    async with tenant.system.database() as connection:
        tables = await connection.fetch(
            "SELECT schemaname || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'"
        )
        rows = []
        for table in tables:
            rows += [row[0] for row in await connection.fetch(f"SELECT t::text FROM {table['name']} AS t")]
    assert len(rows) > 20
    return "\n".join(rows)


async def test_scenario_73_hostile_words_of_a_runner_are_shown_and_do_nothing(tenant: Tenant) -> None:
    run_id, sha = await tenant.new_run()
    runner = await hand_runner(tenant)
    lease = await runner.claim()
    await runner.call(lease, "heartbeat", stage="running", progress=5, message=HOSTILE)
    told: Json = {
        "decision": "fail",
        "summary": HOSTILE,
        "projects": [{"id": HOSTILE, "path": HOSTILE}],
        "findings": [finding(HOSTILE, rule=EVIL, project=HOSTILE, path=f"../../{EVIL}", sheet=HOSTILE,
                             position={"x_mm": 1e300, "y_mm": -0.0, "layer": EVIL}, item_uuids=[EVIL])],
        "checks": [{"name": "drc", "project": HOSTILE, "state": "failed", "reason": HOSTILE}],
        "tool_versions": {"kicad-cli": HOSTILE[:200]},
    }  # fmt: skip
    assert (await runner.report(lease, result_body(lease, **told))).json()["outcome"] == "accepted"
    check = await tenant.concluded(sha, "failure")
    text = check["output"]["title"] + check["output"]["summary"]
    assert "<script" not in text
    assert "](https://evil" not in text
    assert "@everyone" not in text
    assert not [one for one in text if not one.isprintable() and one not in "\n\u200b"]
    for path in (f"/runs/{run_id}", "/"):
        page = await tenant.system.client.get(path)
        assert page.status_code == 200
        assert dangers(page.text) == []
        assert "\x1b" not in page.text
    assert "alert(1)" in (await tenant.system.client.get(f"/runs/{run_id}")).text
    assert_harmless(tenant.system.server.text)


async def test_scenario_73_hostile_names_in_a_commit_and_a_report_do_nothing(
    tenant: Tenant, tmp_path: Path
) -> None:
    name = "amp <script>alert(1)<\u2044script>\x1b[31m\u202e [x](https:evil.example) \N{GRINNING FACE}"
    files = {f"{name}/{name}{Path(path).suffix}": content for path, content in BOARD.items()}
    item = {"description": HOSTILE, "pos": {"x": 1.5, "y": 2}, "uuid": HOSTILE}
    fault = {"type": "clearance", "severity": "error", "description": HOSTILE, "items": [item]}
    state = await register(tenant, tmp_path)
    sha = tenant.commit(files)
    moment = tenant.system.clock.tick()
    delivery = await tenant.system.github.open_pull_request(
        tenant.repository, head_commit=sha, title=HOSTILE, head_ref="x/<script>alert(1)", updated_at=moment
    )
    run_id = run_of(delivery)
    runner = await start_runner(tenant, tmp_path, state, reporting(tmp_path, {"violations": [fault]}))
    check = await tenant.concluded(sha, "failure")
    assert check["output"]["title"].startswith("Not ready")
    assert "<script" not in check["output"]["summary"]
    page = await tenant.system.client.get(f"/runs/{run_id}")
    assert (page.status_code, dangers(page.text)) == (200, [])
    await runner.stop()
    assert_harmless(runner.text)
    assert_harmless(tenant.system.server.text)


async def test_scenario_73_a_hostile_lease_and_error_do_not_reach_the_runners_terminal(
    tenant: Tenant,
) -> None:
    for name in (EVIL, TERMINAL, "../../etc", "", "a" * 10_000, "a\0b"):
        body = {"enrollment_token": await enrol(tenant), "name": name, "version": HOSTILE[:90]}
        answer = await tenant.system.client.post("/runner/v1/registrations", json=body)
        if answer.status_code == 201:
            page = await tenant.system.client.get("/")
            assert dangers(page.text) == []
        else:
            assert (answer.status_code, "script" in answer.text) == (422, False)


async def test_scenario_74_paths_that_lead_out_find_nothing(tenant: Tenant) -> None:
    system = tenant.system
    for path in (
        *(
            "/static/../config.py",
            "/static/%2e%2e/config.py",
            "/static/..%2f..%2fconfig.py",
            "/static//etc/passwd",
        ),
        *("/static/%00", "/static/" + "a" * 10_000, "/runs/..%2f..", "/runs/%00", "/api/v1/runs/%ff"),
    ):
        answer = await system.client.get(path)
        assert 400 <= answer.status_code < 500, (path, answer.status_code)
        assert "root:" not in answer.text
    for query in (
        "cursor=%00",
        "cursor=" + "A" * 5_000,
        "repository=../..",
        "sha=%27",
        "limit=-1",
        "since=now",
    ):
        answer = await system.client.get(f"/api/v1/runs?{query}")
        assert answer.status_code in {200, 422, 400, 414}, (query, answer.status_code)


async def test_scenario_74_a_commit_that_points_out_of_its_checkout_reads_nothing(
    tenant: Tenant, tmp_path: Path
) -> None:
    sha = linked_commit(tenant, {"amp/amp.kicad_pcb": "/etc/passwd", "lib": "/etc"}, tmp_path)
    state = await register(tenant, tmp_path)
    await tenant.open(sha)
    look = f'for file in "$@"; do cat "$file" >>{tmp_path}/seen; done\n'
    runner = await start_runner(tenant, tmp_path, state, look + reporting(tmp_path))
    await tenant.check(sha, lambda one: one["status"] == "completed")
    await runner.stop()
    seen = (tmp_path / "seen").read_text()
    assert "/etc/passwd" in seen  # the link's own text, not what it points to
    assert "root:" not in seen + json.dumps(tenant.checks(), default=str) + runner.text


def linked_commit(tenant: Tenant, links: dict[str, str], folder: Path) -> str:
    """A commit of the board in which these paths are symbolic links."""
    work = folder / "linked"
    work.mkdir()
    for path, content in BOARD.items():
        (work / path).parent.mkdir(exist_ok=True)
        (work / path).write_bytes(content)
    for path, target in links.items():
        (work / path).unlink(missing_ok=True)
        (work / path).symlink_to(target)
    environment = {"PATH": tenant.system.environment["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        told = subprocess.run(
            ["git", *who, *arguments], cwd=work, env=environment, capture_output=True, text=True, check=True
        )
        return told.stdout.strip()

    git("init", "--quiet")
    git("add", "-A")
    git("commit", "--quiet", "-m", "Link")
    sha = git("rev-parse", "HEAD")
    git("push", "--quiet", str(tenant.repository.folder), "HEAD:refs/heads/linked")
    tenant.repository.commits.add(sha)
    set_ref(tenant.repository.folder, "refs/heads/linked", sha)
    return sha


def assert_harmless(text: str) -> None:
    """What a program printed holds nothing that a terminal would act on."""
    assert not [one for one in text if not one.isprintable() and one != "\n"]
