"""The whole system: `serve` as a process over its embedded PostgreSQL, and GitHub's stand-in beside it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from boardreadyops.config import Secret, executable_search_path
from boardreadyops.db.binaries import server_user
from boardreadyops.db.pool import Connection, connect
from boardreadyops.db.postmaster import Postmaster
from boardreadyops.demo.stage import free_port
from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository
from boardreadyops.standin.webhooks import Delivery
from tests.e2e.programs import Program

APP_ID = 424_242
LEASE_SECONDS = 6
WAIT_SECONDS = 30.0
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
BOARD: Mapping[str, bytes] = {
    "amp/amp.kicad_pro": b"{}",
    "amp/amp.kicad_pcb": b'(kicad_pcb (version 20241229) (generator "pcbnew") (generator_version "9.0"))',
    "amp/amp.kicad_sch": b'(kicad_sch (version 20250114) (generator "eeschema") (generator_version "9.0"))',
}
_numbers = itertools.count(1)

Json = dict[str, Any]


@dataclass
class Clock:
    """GitHub's clock: real time, and a second more for each act, since GitHub tells whole seconds."""

    ahead_seconds: int = 0

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.ahead_seconds)

    def tick(self) -> datetime:
        self.ahead_seconds += 1
        return self()


@dataclass
class System:
    """A running system. `server` changes with `restart`; its address does not."""

    github: StandIn
    clock: Clock
    folder: Path
    environment: dict[str, str]
    url: str
    client: httpx.AsyncClient
    server: Program
    webhook_secret: str
    ended_servers: list[Program] = field(default_factory=list)

    async def restart(self, *, patience: int = 1) -> None:
        """Start `serve` again on the same folder and port, after it ended; so often, if it says in a line why not now."""
        for left in reversed(range(patience)):
            await self.server.ended()
            self.ended_servers.append(self.server)
            self.server = await Program.start("serve", environment=self.environment)
            try:
                await self.server.line("BoardReadyOps is at")
            except AssertionError:
                assert left, self.server.text
                assert await self.server.ended() == 3, self.server.text
                assert len(self.server.errors) == 1, self.server.text
            else:
                return

    async def tenant(self, *, known: bool = True) -> Tenant:
        """A new installation with one repository; `known=False` keeps its installation event back."""
        number = next(_numbers)
        installation_id = 61_000_000 + number
        repository = self.github.create_repository(
            installation_id, f"org-{number}", "amp", commits=[({"README.md": b"# amp\n"}, "Start")]
        )
        self.clock.tick()
        delivery = await self.github.install(installation_id, sending="send" if known else "lose")
        assert not known or delivery.status == 202, delivery
        return Tenant(self, installation_id, repository, delivery)

    async def post(self, event: str, body: bytes, **headers: str) -> httpx.Response:
        """A signed webhook with a body of one's own."""
        digest = hmac.new(self.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        told = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": str(uuid4()),
            "X-Hub-Signature-256": f"sha256={digest}",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post("/webhooks/github", content=body, headers=told)

    async def again(self, delivery: Delivery) -> httpx.Response:
        """The same event under another delivery id, as a second hook sends it."""
        return await self.post(delivery.event, delivery.body)

    async def api(self, path: str) -> Json:
        answer = await self.client.get(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        document: Json = answer.json()
        return document

    async def run(self, run_id: str) -> Json:
        return await self.api(f"/runs/{run_id}")

    async def reasons(self, run_id: str) -> list[str]:
        """The reasons of a run's transitions, oldest first; the chain of versions must be unbroken."""
        events = (await self.api(f"/runs/{run_id}/transitions"))["items"]
        told = sorted(
            (one for one in events if one["entity_type"] == "release_run"), key=lambda one: one["to_version"]
        )
        assert [one["to_version"] for one in told] == list(range(1, len(told) + 1))
        return [one["reason_code"] for one in told]

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Connection]:
        """The owner's connection to the embedded database, for looking behind the program."""
        password = (self.folder / "data" / "postgres.password").read_text().strip()
        socket = quote(str(self.folder / "data" / "postgres" / "run"), safe="")
        url = f"postgresql://postgres:{password}@/boardreadyops?host={socket}&port=5432"
        connection = await connect(Secret(url), application_name="tests e2e")
        try:
            yield connection
        finally:
            await connection.close()

    def postmaster(self) -> Postmaster:
        cluster = self.folder / "data" / "postgres" / "cluster"
        return Postmaster(cluster, server_user(cluster))


@dataclass
class Tenant:
    """One installation with one repository: a test's own world inside the system."""

    system: System
    installation_id: int
    repository: Repository
    installed: Delivery

    def commit(self, files: Mapping[str, bytes] = BOARD) -> str:
        """A commit of its own: the board and a text nobody else has."""
        tree = {**files, "note.txt": secrets.token_hex(8).encode()}
        return self.system.github.commit_tree(
            self.repository, tree, "Change", self.repository.refs["refs/heads/main"]
        )

    async def open(self, sha: str, *, number: int | None = None, lost: bool = False) -> Delivery:
        moment = self.system.clock.tick()
        return await self.system.github.open_pull_request(
            self.repository, head_commit=sha, number=number, updated_at=moment, sending="lose" if lost else "send"
        )  # fmt: skip

    async def push(self, sha: str, *, number: int = 1, lost: bool = False) -> Delivery:
        moment = self.system.clock.tick()
        return await self.system.github.push_to_pull_request(
            self.repository, number, head_commit=sha, updated_at=moment, sending="lose" if lost else "send"
        )

    async def close(self, *, number: int = 1) -> Delivery:
        return await self.system.github.close_pull_request(
            self.repository, number, updated_at=self.system.clock.tick()
        )

    async def new_run(self) -> tuple[str, str]:
        """A pull request with a commit of its own: (run id, SHA)."""
        sha = self.commit()
        return run_of(await self.open(sha)), sha

    async def runs(self) -> list[Json]:
        """All runs of the repository, newest first."""
        found: list[Json] = (await self.system.api(f"/runs?repository={self.repository.full_name}"))["items"]
        return found

    def checks(self, sha: str | None = None) -> list[Json]:
        """The checks GitHub shows in this repository (of this commit), oldest first."""
        mine = [
            one for one in self.system.github.check_runs if one["repository"] == self.repository.full_name
        ]
        return sorted((one for one in mine if sha in (None, one["head_sha"])), key=lambda one: one["id"])

    async def check(
        self, sha: str, wanted: Callable[[Json], object], *, timeout_seconds: float = WAIT_SECONDS
    ) -> Json:
        """The check of a commit, as soon as it is as wanted."""

        def fits(one: Mapping[str, Any]) -> bool:
            return (
                one["repository"] == self.repository.full_name
                and one["head_sha"] == sha
                and bool(wanted(dict(one)))
            )

        return await self.system.github.check_run(fits, timeout_seconds=timeout_seconds)

    async def concluded(self, sha: str, conclusion: str, *, timeout_seconds: float = WAIT_SECONDS) -> Json:
        return await self.check(
            sha, lambda one: one["conclusion"] == conclusion, timeout_seconds=timeout_seconds
        )


def run_of(delivery: Delivery) -> str:
    """The run that a delivery led to."""
    assert delivery.status in (200, 202), (delivery.status, delivery.answer, delivery.failure)
    (action,) = [one for one in delivery.answer["actions"] if one["kind"] == "enqueue"]
    run_id: str = action["release_run_id"]
    return run_id


@asynccontextmanager
async def open_system(**settings: str) -> AsyncIterator[System]:
    """Start the stand-in and `serve`; all of it, the database included, ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="boardreadyops-e2e-", dir="/tmp"))
    folder.chmod(0o711)
    clock, webhook_secret = Clock(), secrets.token_hex(24)
    public = KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    try:
        async with StandIn.serve(
            app_id=APP_ID, public_key_pem=public.decode(), webhook_secret=webhook_secret, clock=clock
        ) as github:
            environment = _environment(folder, github, webhook_secret, settings)
            server = await Program.start("serve", environment=environment)
            url = (await server.line("BoardReadyOps is at")).rpartition(" ")[2]
            github.webhook_url = f"{url}/webhooks/github"
            limits = httpx.Limits(max_connections=200)
            async with httpx.AsyncClient(
                base_url=url, trust_env=False, timeout=30, limits=limits
            ) as client:  # fmt: skip
                system = System(github, clock, folder, environment, url, client, server, webhook_secret)
                try:
                    yield system
                finally:
                    github.faults.clear()
                    await _stop(system.server)
    finally:
        await asyncio.to_thread(_end_database, folder)
        shutil.rmtree(folder, ignore_errors=True)


async def _stop(server: Program) -> None:
    with suppress(TimeoutError):
        await server.stop()
    await server.kill()


def _end_database(folder: Path) -> None:
    cluster = folder / "data" / "postgres" / "cluster"
    if cluster.exists():
        Postmaster(cluster, server_user(cluster)).stop()


def private_key_pem() -> bytes:
    return KEY.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _environment(
    folder: Path, github: StandIn, webhook_secret: str, chosen: Mapping[str, str]
) -> dict[str, str]:
    key = folder / "app.pem"
    key.touch(mode=0o600)
    key.write_bytes(private_key_pem())
    settings = {
        "DATA_DIR": str(folder / "data"),
        "PORT": str(_certain_port()),
        "GITHUB_API_URL": github.api_url,
        "GITHUB_WEB_URL": github.web_url,
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_PRIVATE_KEY_FILE": str(key),
        "GITHUB_WEBHOOK_SECRET": webhook_secret,
        "GITHUB_TIMEOUT_SECONDS": "2",
        "DOUBT_SECONDS": "1",
        "LEASE_SECONDS": str(LEASE_SECONDS),
        **chosen,
    }
    named = {f"BOARDREADYOPS_{name}": value for name, value in settings.items()}
    return {"PATH": executable_search_path(), "HOME": str(folder), "LANG": "C.UTF-8", **named}


def _certain_port() -> int:
    """A port that a restarted server can have again."""
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return free_port(port)


def result_body(lease: Json, **fields: object) -> bytes:
    """A result of this lease: a pass unless told otherwise."""
    document = {
        "schema": 1,
        "release_run_id": lease["release_run_id"],
        "execution_attempt_id": lease["execution_attempt_id"],
        "retry_id": lease["retry_id"],
        "status": "completed",
        "decision": "pass",
        "summary": "Ready to fabricate",
        "checks": [{"name": "drc", "project": "amp", "state": "passed"}],
    }
    return json.dumps(document | fields, ensure_ascii=False).encode()


def finding(message: str, **fields: object) -> Json:
    base: Json = {"rule": "clearance", "severity": "error", "fingerprint": secrets.token_hex(8)}
    return {**base, "message": message, **fields}


def lines_with(lines: Sequence[str], words: str) -> list[str]:
    return [one for one in lines if words in one]
