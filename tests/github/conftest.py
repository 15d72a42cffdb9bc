"""GitHub's stand-in and a client that speaks to it, with one installation and one repository."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from boardreadyops.config import Secret
from boardreadyops.github.client import GitHubClient
from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

APP_ID = 4242
INSTALLATION_ID = 51_000_001
WEBHOOK_SECRET = "a webhook secret"


@dataclass
class HandClock:
    """A clock that stands until it is moved; the stand-in and the client share it."""

    now: datetime = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@pytest.fixture(scope="session")
def private_key(rsa_key: rsa.RSAPrivateKey) -> Secret:
    text = rsa_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return Secret(text.decode())


@pytest.fixture(scope="session")
def public_key(rsa_key: rsa.RSAPrivateKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return rsa_key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def github(public_key: str, clock: HandClock) -> AsyncIterator[StandIn]:
    async with StandIn.serve(
        app_id=APP_ID, public_key_pem=public_key, webhook_secret=WEBHOOK_SECRET, clock=clock
    ) as served:
        yield served
        assert not [one for one in served.violations if one.kind == "request"]


@pytest.fixture
def repository(github: StandIn) -> Repository:
    commits = [
        ({"board.kicad_pcb": b"(kicad_pcb)\n"}, "Start"),
        ({"board.kicad_pcb": b"(kicad_pcb 2)\n"}, "Go on"),
    ]
    return github.create_repository(INSTALLATION_ID, "acme-boards", "amp", commits=commits)


@pytest.fixture
async def client(github: StandIn, private_key: Secret, clock: HandClock) -> AsyncIterator[GitHubClient]:
    made = GitHubClient(github.api_url, APP_ID, private_key, 5.0, clock)
    yield made
    await made.aclose()
