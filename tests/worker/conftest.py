"""The relay between a real database and the real stand-in; commits and pull requests exist on both sides."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from uuid import UUID

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from boardreadyops.config import Secret
from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.pool import Connection, Database, Record
from boardreadyops.db.runs import Enqueued, close_ref, enqueue_release_run
from boardreadyops.github.client import GitHubClient
from boardreadyops.github.requests import Answer, create_check_run
from boardreadyops.github.webhooks import Delivery as Received
from boardreadyops.github.webhooks import PullRequestSeen, classify, receive
from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository
from boardreadyops.standin.webhooks import Delivery
from boardreadyops.worker.relay import Relay

APP_ID = 4242
INSTALLATION_ID, OTHER_INSTALLATION_ID = 51_000_001, 51_000_002
WEBHOOK_SECRET = "a webhook secret"
PUBLIC_URL = "http://boards.example"


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Scene:
    """Both sides of the relay, and the moves of a test."""

    github: StandIn
    app: Database
    owner: Connection
    client: GitHubClient
    relay: Relay

    def repository(self, name: str = "amp", installation_id: int = INSTALLATION_ID) -> Repository:
        trees = [{"board.kicad_pcb": f"({name} {number})\n".encode()} for number in range(3)]
        return self.github.create_repository(
            installation_id, f"acme-{installation_id}", name, commits=[(tree, "Draw") for tree in trees]
        )

    def commit(self, repository: Repository, text: str) -> str:
        return self.github.commit_tree(repository, {"board.kicad_pcb": text.encode()}, text)

    async def take(self, delivery: Delivery) -> Enqueued | None:
        """Handle a delivery as the intake does, from its bytes and signature on."""
        received = receive(delivery.headers, delivery.body, [WEBHOOK_SECRET.encode()])
        assert isinstance(received, Received), received
        seen = classify(received)
        assert isinstance(seen, PullRequestSeen), seen
        observation = seen.observation
        async with self.app.transaction() as connection:
            await note_installation(
                connection,
                installation_id=observation.installation_id,
                account_login=seen.account_login,
                account_id=seen.account_id,
            )
            await put_repository(
                connection,
                observation.installation_id,
                seen.repository,
                observed_at=observation.observed_at,
            )
            if observation.open:
                return await enqueue_release_run(connection, observation)
            await close_ref(connection, observation)
            return None

    async def opened(self, repository: Repository, *, number: int = 1, text: str | None = None) -> UUID:
        head = self.commit(repository, text or f"{repository.name} {number}")
        delivery = await self.github.open_pull_request(
            repository, head_commit=head, number=number, sending="lose"
        )
        enqueued = await self.take(delivery)
        assert enqueued is not None
        assert enqueued.release_run_id is not None
        return enqueued.release_run_id

    async def publication(self, run_id: UUID) -> Record:
        row = await self.owner.fetchrow("SELECT * FROM publications WHERE release_run_id = $1", run_id)
        assert row is not None
        return row

    async def hurry(self) -> None:
        """Let all waiting and all doubt be over, as time would."""
        await self.owner.execute(
            "UPDATE publications SET available_at = now() - interval '1 s',"
            " claimed_until = claimed_until - interval '1 day'"
        )
        await self.owner.execute(
            "UPDATE outbox SET available_at = now() - interval '1 s', claimed_until = claimed_until - interval '1 day'"
        )

    async def start(self) -> asyncio.Task[int]:
        """A round of the relay under way; await it for its end."""
        return asyncio.create_task(self.relay.run_once())

    async def github_create(self, repository: Repository, external_id: str, commit_sha: str) -> None:
        """A check run as a relay that died would have created it."""
        body = {
            "name": "BoardReadyOps",
            "external_id": external_id,
            "head_sha": commit_sha,
            "status": "queued",
        }
        request = create_check_run(repository.owner.login, repository.name, body)
        assert isinstance(await self.client.request(repository.installation_id, request), Answer)

    def checks(self, repository: Repository) -> list[tuple[str, str | None]]:
        return [
            (one["status"], one["conclusion"])
            for one in self.github.check_runs
            if one["repository"] == repository.full_name
        ]


@pytest.fixture(scope="session")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@pytest.fixture
async def scene(
    app_database: Database, owner_connection: Connection, rsa_key: rsa.RSAPrivateKey
) -> AsyncIterator[Scene]:
    private = rsa_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    public_format = serialization.PublicFormat.SubjectPublicKeyInfo
    public = rsa_key.public_key().public_bytes(serialization.Encoding.PEM, public_format).decode()
    async with StandIn.serve(app_id=APP_ID, public_key_pem=public, webhook_secret=WEBHOOK_SECRET) as github:
        client = GitHubClient(github.api_url, APP_ID, Secret(private), 5.0, utc_now)
        relay = Relay(app_database, client, public_url=PUBLIC_URL, clock=utc_now, rng=Random(7))
        yield Scene(github, app_database, owner_connection, client, relay)
        await client.aclose()
        assert not [one for one in github.violations if one.kind == "request"]
