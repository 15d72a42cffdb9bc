"""A server that speaks the runner protocol as it is told to, and a real repository behind GitHub's stand-in."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from boardreadyops.agent.checkout import CheckoutLimits
from boardreadyops.agent.loop import Agent
from boardreadyops.agent.server import RunnerServer
from boardreadyops.agent.work import Bench
from boardreadyops.config import Secret, executable_search_path
from boardreadyops.kicad.outcome import Report
from boardreadyops.kicad.project import KicadProject
from boardreadyops.kicad.runner import KicadRunner
from boardreadyops.standin import StandIn
from boardreadyops.standin.server import listening_socket, serving

APP_ID = 4242
INSTALLATION_ID = 51_000_001
BOARD = {
    "amp/amp.kicad_pro": b"{}",
    "amp/amp.kicad_pcb": b'(kicad_pcb (version 20241229) (generator "pcbnew") (generator_version "9.0"))',
    "amp/amp.kicad_sch": b'(kicad_sch (version 20250114) (generator "eeschema") (generator_version "9.0"))',
}
REGISTRATION_TOKEN = Secret("brr_registration-token-of-the-test")
LEASE_TOKEN = "brl_lease-token-of-the-test"

Answer = Callable[[Request], Response]


@dataclass
class ScriptedServer:
    """Answers as the protocol says unless an answer was ordered; keeps what it was sent."""

    url: str = ""
    lease: dict[str, Any] | None = None
    lease_seconds: int = 60
    heartbeat_seconds: float = 0.2
    source_token: str = "source-token-of-the-test"
    directive: str = "continue"
    state: str = "active"
    claims: list[dict[str, Any]] = field(default_factory=list)
    heartbeats: list[dict[str, Any]] = field(default_factory=list)
    heartbeat_times: list[float] = field(default_factory=list)
    given_back: list[dict[str, Any]] = field(default_factory=list)
    results: list[bytes] = field(default_factory=list)
    authorizations: set[str] = field(default_factory=set)
    ordered: dict[str, list[Answer]] = field(default_factory=dict)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def order(self, call: str, *answers: Answer) -> None:
        """The next answers to `claim`, `heartbeat`, `source-token`, `relinquish` or `result`."""
        self.ordered.setdefault(call, []).extend(answers)

    async def until(self, happened: Callable[[], bool], timeout_seconds: float = 20) -> None:
        """Wait for something among what was sent here."""
        async with asyncio.timeout(timeout_seconds), self.changed:
            await self.changed.wait_for(happened)

    @property
    def result(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.results[-1])
        return document

    async def handle(self, request: Request) -> Response:
        call = request.url.path.rpartition("/")[2].replace("leases", "claim")
        body = await request.body()
        self.authorizations.add(request.headers.get("authorization", ""))
        self._keep(call, body)
        answers = self.ordered.get(call, [])
        try:
            answer = answers.pop(0)(request) if answers else self._usual(call)
        finally:
            async with self.changed:
                self.changed.notify_all()
        return answer

    def _keep(self, call: str, body: bytes) -> None:
        if call == "claim":
            self.claims.append(json.loads(body))
        elif call == "heartbeat":
            self.heartbeats.append(json.loads(body))
            self.heartbeat_times.append(time.monotonic())
        elif call == "relinquish":
            self.given_back.append(json.loads(body))
        elif call == "result":
            self.results.append(body)

    def _usual(self, call: str) -> Response:
        match call:
            case "claim":
                lease, self.lease = self.lease, None
                return Response(status_code=204) if lease is None else JSONResponse(lease, 201)
            case "heartbeat":
                return JSONResponse(
                    {
                        "state": self.state,
                        "directive": self.directive,
                        "reason": None if self.directive == "continue" else "cancelled_by_user",
                        "expires_in_seconds": self.lease_seconds,
                        "maximum_expires_in_seconds": 600,
                    }
                )
            case "source-token":
                return JSONResponse({"token": self.source_token, "expires_at": "2099-01-01T00:00:00Z"})
            case _:
                return JSONResponse({"outcome": "accepted", "audit_id": None})


def cut(request: Request) -> Response:
    """Lose the answer."""
    request.scope["state"]["transport"].abort()
    return Response(status_code=500)


def problem(status: int, code: str = "out_of_order") -> Answer:
    """Answer with a problem."""

    def answer(_: Request) -> Response:
        document = {
            "type": "about:blank",
            "title": "No",
            "status": status,
            "detail": "Not now.",
            "code": code,
        }
        return JSONResponse(document, status, media_type="application/problem+json")

    return answer


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer()
    listener = listening_socket()
    scripted.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    application = Starlette(routes=[Route("/runner/v1/{path:path}", scripted.handle, methods=["POST"])])
    async with serving(application, listener):
        yield scripted


@dataclass(frozen=True)
class GitSource:
    """A commit that can be fetched, and the token that reads it."""

    clone_url: str
    commit_sha: str
    token: str
    bare: Path


@pytest.fixture(scope="session")
def app_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@pytest.fixture
async def github(app_key: rsa.RSAPrivateKey) -> AsyncIterator[StandIn]:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = app_key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()
    async with StandIn.serve(app_id=APP_ID, public_key_pem=public, webhook_secret="s") as served:
        yield served


Publish = Callable[[Mapping[str, bytes] | Path], Awaitable[GitSource]]


@pytest.fixture
async def publish(github: StandIn, app_key: rsa.RSAPrivateKey) -> Publish:
    """A function that puts files into a repository and says how to fetch them."""

    async def made(tree: Mapping[str, bytes] | Path) -> GitSource:
        repository = github.create_repository(
            INSTALLATION_ID,
            "acme",
            "amp",
            commits=[({"README.md": b"# amp\n"}, "Start"), (tree, "Draw the board")],
        )
        now = datetime.now(UTC)
        claims = {"iat": now - timedelta(seconds=60), "exp": now + timedelta(seconds=500), "iss": str(APP_ID)}
        bearer = jwt.encode(claims, app_key, algorithm="RS256")
        path = f"{github.api_url}/app/installations/{INSTALLATION_ID}/access_tokens"
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(
                path, headers={"authorization": f"Bearer {bearer}", "accept": "application/vnd.github+json"}
            )
        sha = repository.refs["refs/heads/main"]
        return GitSource(f"{github.web_url}/acme/amp.git", sha, answer.json()["token"], repository.folder)

    return made


@pytest.fixture
async def source(publish: Publish) -> GitSource:
    return await publish(BOARD)


def lease_document(server: ScriptedServer, source: GitSource | None = None, **changes: Any) -> dict[str, Any]:
    repository = {
        "id": 7,
        "owner": "acme",
        "name": "amp",
        "private": True,
        "clone_url": source.clone_url if source else "http://127.0.0.1:9/acme/amp.git",
    }
    return {
        "lease_id": str(uuid4()),
        "lease_token": LEASE_TOKEN,
        "release_run_id": str(uuid4()),
        "execution_attempt_id": str(uuid4()),
        "retry_id": str(uuid4()),
        "retry_number": 0,
        "repository": repository,
        "ref": "refs/pull/12/head",
        "pull_request_number": 12,
        "commit_sha": source.commit_sha if source else "a" * 40,
        "base_sha": "b" * 40,
        "trust_mode": "trusted",
        "heartbeat_seconds": server.heartbeat_seconds,
        "expires_in_seconds": server.lease_seconds,
        "maximum_expires_in_seconds": 600,
        **changes,
    }


class AskedKicad:
    """Answers both checks with what `answer` does; clean reports unless told otherwise."""

    tool_versions: Mapping[str, str] = {"kicad-cli": "9.0.8"}
    note = ""

    def __init__(self, during: Callable[[], Any] | None = None) -> None:
        self.during = during
        self.asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def drc(self, project: KicadProject, workspace: Path, *, timeout_seconds: float) -> Report:
        self._loop.call_soon_threadsafe(self.asked.set)
        if self.during is not None:
            ongoing = self.during()
            if asyncio.iscoroutine(ongoing):
                await ongoing
        return Report("drc", "9.0.8", (), "ran")

    async def erc(self, project: KicadProject, workspace: Path, *, timeout_seconds: float) -> Report:
        return Report("erc", "9.0.8", ())


@pytest.fixture
def bench(tmp_path: Path) -> Callable[[KicadRunner], Bench]:
    def made(kicad: KicadRunner, limits: CheckoutLimits | None = None) -> Bench:
        return Bench(
            work_folder=tmp_path / "work",
            search_path=executable_search_path(),
            kicad=kicad,
            limits=limits or CheckoutLimits(),
        )

    return made


@dataclass
class Crew:
    """An agent with its connection and what it said."""

    agent: Agent
    said: list[str]


@pytest.fixture
async def crew(
    server: ScriptedServer, bench: Callable[[KicadRunner], Bench]
) -> AsyncIterator[Callable[[KicadRunner], Crew]]:
    async with RunnerServer(server.url) as connection:

        def made(kicad: KicadRunner) -> Crew:
            said: list[str] = []
            capabilities = ["kicad=9.0.8"]
            agent = Agent(
                connection, REGISTRATION_TOKEN, bench(kicad), capabilities=capabilities, say=said.append
            )
            return Crew(agent, said)

        yield made
