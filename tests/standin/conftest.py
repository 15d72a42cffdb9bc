"""A served stand-in, an independent HTTP client and a receiver of webhooks, all from the standard library."""

import asyncio
import http.client
import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

APP_ID = 4242
INSTALLATION_ID = 51_000_001
SECRET = "a webhook secret"
OWNER = "acme-boards"


@dataclass
class HandClock:
    """A clock that stands until it is moved."""

    now: datetime = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: Any


def _exchange(origin: str, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
    parts = urlsplit(origin)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read()
    finally:
        connection.close()
    got = {name.lower(): value for name, value in response.getheaders()}
    return Reply(
        response.status, got, json.loads(text) if "json" in got.get("content-type", "") else text.decode()
    )


@dataclass
class Client:
    """Speaks HTTP to the stand-in with nothing but the standard library; `token` is sent unless told otherwise."""

    github: StandIn
    private_key: str
    clock: HandClock
    token: str | None = None

    async def call(
        self, method: str, path: str, body: Any = None, *, authorization: str | None = None
    ) -> Reply:
        headers = {"user-agent": "tests", "accept": "application/vnd.github+json"}
        if authorization is None and self.token is not None:
            authorization = f"Bearer {self.token}"
        if authorization:
            headers["authorization"] = authorization
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if raw is not None:
            headers["content-type"] = "application/json"
        return await asyncio.to_thread(_exchange, self.github.api_url, method, path, raw, headers)

    def app_jwt(self, *, key: str | None = None, algorithm: str = "RS256", **claims: Any) -> str:
        now = int(self.clock().timestamp())
        payload = {"iat": now - 60, "exp": now + 540, "iss": str(APP_ID), **claims}
        kept = {name: value for name, value in payload.items() if value is not None}
        return jwt.encode(kept, self.private_key if key is None else key, algorithm=algorithm)

    async def mint(self, body: Any = None, installation_id: int = INSTALLATION_ID) -> Reply:
        path = f"/app/installations/{installation_id}/access_tokens"
        return await self.call("POST", path, body, authorization=f"Bearer {self.app_jwt()}")


def private_pem() -> str:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def public_pem(private: str) -> str:
    key = serialization.load_pem_private_key(private.encode(), None)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


@pytest.fixture(scope="session")
def private_key() -> str:
    return private_pem()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def github(private_key: str, clock: HandClock) -> AsyncIterator[StandIn]:
    async with StandIn.serve(
        app_id=APP_ID, public_key_pem=public_pem(private_key), webhook_secret=SECRET, clock=clock
    ) as served:
        yield served


@pytest.fixture
def repository(github: StandIn) -> Repository:
    commits = [
        ({"board.kicad_pcb": b"(kicad_pcb)\n"}, "Start"),
        ({"board.kicad_pcb": b"(kicad_pcb 2)\n"}, "Go on"),
    ]
    return github.create_repository(INSTALLATION_ID, OWNER, "amp", commits=commits)


@pytest.fixture
async def client(github: StandIn, private_key: str, clock: HandClock, repository: Repository) -> Client:
    made = Client(github, private_key, clock)
    made.token = (await made.mint()).body["token"]
    return made


@dataclass
class Receiver:
    """Receives webhooks and answers each with 202 and the delivery id."""

    url: str = ""
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    inbox = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            inbox.received.append((headers, body))
            answer = json.dumps({"status": "accepted", "delivery_id": headers["x-github-delivery"]}).encode()
            self.send_response(202)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    inbox.url = f"http://127.0.0.1:{server.server_address[1]}/webhooks/github"
    yield inbox
    server.shutdown()
    thread.join()
    server.server_close()
