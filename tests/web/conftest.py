"""The real application over real HTTP and a real database, and the moves that GitHub, runners and people make."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from boardreadyops.config import Secret, Settings
from boardreadyops.db.migrate import schema_fits
from boardreadyops.db.pool import Database
from boardreadyops.db.runners import issue_runner_enrollment
from boardreadyops.github.requests import Failure
from boardreadyops.runner.credentials import new_token, token_digest
from boardreadyops.standin.shapes import example
from boardreadyops.web.app import WebServices, WorkSignal, create_app
from boardreadyops.web.server import listening_socket, serving
from boardreadyops.web.wiring import MintedToken
from tests.conftest import DatabaseUrls

WEBHOOK_SECRET = "a webhook secret"
NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
SHA_A, SHA_B, SHA_C = "a1" * 20, "b2" * 20, "c3" * 20

Json = dict[str, Any]


def pull_request(
    head_sha: str = SHA_A,
    *,
    action: str = "opened",
    number: int = 42,
    minute: int = 0,
    installation_id: int = 1,
    repository_id: int = 10,
    name: str = "power-board",
) -> Json:
    """GitHub's own example of that action, about our pull request at `minute` minutes after noon."""
    payload = example(f"pull_request.{action}")
    moment = (NOON + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")
    payload["number"] = number
    payload["installation"] = {"id": installation_id, "node_id": "x"}
    payload["repository"] |= {"id": repository_id, "name": name, "full_name": f"acme/{name}"}
    payload["repository"]["owner"] |= {"login": "acme", "id": 7}
    pull = payload["pull_request"]
    pull |= {"number": number, "updated_at": moment, "state": "closed" if action == "closed" else "open"}
    pull["head"] |= {"sha": head_sha, "repo": dict(payload["repository"])}
    pull["base"] |= {"sha": "f" * 40, "ref": "main", "repo": dict(payload["repository"])}
    return payload


def installation(action: str, *, minute: int, installation_id: int = 1) -> Json:
    """GitHub's own example of an installation event, about ours."""
    payload = example(f"installation.{action}")
    moment = (NOON + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")
    payload["installation"] |= {"id": installation_id, "updated_at": moment}
    payload["installation"]["account"] |= {"login": "acme", "id": 7}
    payload["installation"]["suspended_at"] = moment if action == "suspend" else None
    return payload


@dataclass(slots=True)
class Mint:
    """Stands where GitHub's token call is; keeps what it was asked for."""

    answer: MintedToken | Failure
    asked: list[tuple[int, object, object]] = field(default_factory=list)

    async def installation_token(
        self, installation_id: int, *, repository_ids: object = None, permissions: object = None
    ) -> MintedToken | Failure:
        self.asked.append((installation_id, repository_ids, permissions))
        return self.answer


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as the server answered it."""

    answer: Json

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.answer['lease_token']}"}

    @property
    def path(self) -> str:
        return f"/runner/v1/leases/{self.answer['lease_id']}"

    def result(self, decision: str = "pass", **more: object) -> Json:
        """A result that names this lease."""
        status = {"pass": "completed", "fail": "completed", "error": "failed"}[decision]
        names = ("release_run_id", "execution_attempt_id", "retry_id")
        told = {"schema": 1, "status": status, "decision": decision, "summary": "Looked at."}
        return {**{name: self.answer[name] for name in names}, **told, **more}


@dataclass(frozen=True, slots=True)
class Site:
    """The running application."""

    http: httpx.AsyncClient
    services: WebServices

    async def deliver(
        self, event: str, payload: Json, *, delivery_id: str | None = None, secret: str = WEBHOOK_SECRET
    ) -> httpx.Response:
        """Send a webhook as GitHub does."""
        body = json.dumps(payload).encode()
        headers = signed_headers(event, body, delivery_id=delivery_id, secret=secret)
        return await self.http.post("/webhooks/github", content=body, headers=headers)

    async def run(self, head_sha: str = SHA_A, **changes: Any) -> str:
        """The run that opening this pull request made."""
        answer = await self.deliver("pull_request", pull_request(head_sha, **changes))
        assert answer.status_code == 202, answer.text
        return str(answer.json()["actions"][0]["release_run_id"])

    async def enrolment(self, installation_id: int | None = None) -> str:
        """A token that lets one runner register."""
        token = new_token("bre_")
        async with self.services.app_database.connection() as connection:
            issued = await issue_runner_enrollment(
                connection,
                installation_id=installation_id,
                repository_ids=None,
                name="bench-1",
                token_digest=token_digest(token),
                ttl_seconds=60,
            )
        assert issued.outcome == "issued"
        return token.reveal()

    async def runner(self, name: str = "bench-1") -> dict[str, str]:
        """The headers of a newly registered managed runner."""
        asked = {"enrollment_token": await self.enrolment(), "name": name, "version": "0.1.0"}
        answer = await self.http.post("/runner/v1/registrations", json=asked)
        assert answer.status_code == 201, answer.text
        return {"Authorization": f"Bearer {answer.json()['token']}"}

    async def lease(self, runner: Mapping[str, str] | None = None) -> Lease:
        """The next run, leased."""
        asked = {"request_id": str(uuid.uuid4()), "capabilities": [], "wait_seconds": 0}
        headers = runner or await self.runner()
        answer = await self.http.post("/runner/v1/leases", json=asked, headers=dict(headers))
        assert answer.status_code == 201, answer.text
        return Lease(answer.json())

    async def report(self, lease: Lease, document: Json) -> httpx.Response:
        """Send a result."""
        return await self.http.post(f"{lease.path}/result", json=document, headers=lease.headers)


def signed_headers(
    event: str, body: bytes, *, delivery_id: str | None = None, secret: str = WEBHOOK_SECRET
) -> dict[str, str]:
    """The headers GitHub sends with a webhook."""
    mark = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "X-GitHub-Delivery": delivery_id or str(uuid.uuid4()),
        "X-GitHub-Event": event,
        "X-Hub-Signature-256": f"sha256={mark}",
        "Content-Type": "application/json",
    }


@asynccontextmanager
async def site_over(services: WebServices) -> AsyncIterator[Site]:
    """The application on a free port while the block runs."""
    listener = listening_socket("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with (
        serving(create_app(services), listener, services.work),
        httpx.AsyncClient(base_url=address, trust_env=False, timeout=20.0) as client,
    ):
        yield Site(client, services)


OpenSite = Callable[..., AbstractAsyncContextManager[Site]]


@pytest.fixture
def services(database_urls: DatabaseUrls, app_database: Database, reader_database: Database) -> WebServices:
    settings = Settings(
        data_dir=Path("/nowhere"),
        artifact_store="file:///nowhere",
        github_webhook_secret=Secret(WEBHOOK_SECRET),
    )
    return WebServices(
        app_database=app_database,
        reader_database=reader_database,
        github=None,
        settings=settings,
        secret_key=database_urls.secret_key,
        schema_fit=schema_fits,
        work=WorkSignal(app_database),
    )


@pytest.fixture
async def site(services: WebServices) -> AsyncIterator[Site]:
    async with site_over(services) as running:
        yield running


@pytest.fixture
def open_site(services: WebServices) -> OpenSite:
    """Another application with other settings or services."""

    def opened(*, github: Mint | None = None, **settings: Any) -> AbstractAsyncContextManager[Site]:
        changed = replace(services.settings, **settings)
        work = WorkSignal(services.app_database)
        return site_over(replace(services, github=github, settings=changed, work=work))

    return opened
