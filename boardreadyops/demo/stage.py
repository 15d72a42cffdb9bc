"""What the story is played on: GitHub's stand-in, the server with its embedded PostgreSQL, a board, later a runner."""

from __future__ import annotations

import secrets
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from boardreadyops.config import executable_search_path
from boardreadyops.demo.processes import Child, ProcessFailed, run_command
from boardreadyops.kicad.probe import KicadCli, Unavailable, probe
from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

HOST = "127.0.0.1"
APP_ID = 424_242
INSTALLATION_ID = 9_001
OWNER, NAME = "acme", "power-board"
START_SECONDS = 60.0
REQUEST_SECONDS = 10.0
KEY_BITS = 2048
EPOCH = datetime.fromtimestamp(0, UTC)
BOARDS = Path(str(files("boardreadyops").joinpath("demo", "boards")))


@dataclass(slots=True, kw_only=True)
class Stage:
    """Everything a step may touch. `memory` carries what one step learnt to the next."""

    github: StandIn
    server_url: str
    client: httpx.AsyncClient
    folder: Path
    environment: dict[str, str]
    repository: Repository
    first_commit: str
    fixed_commit: str
    kicad: KicadCli | Unavailable
    kicad_arguments: tuple[str, ...]
    server: Child
    children: AsyncExitStack
    memory: dict[str, str] = field(default_factory=dict)
    last_moment: datetime = EPOCH

    def next_moment(self) -> datetime:
        """A time (UTC) later than the last act's at GitHub's resolution of whole seconds, so that order is plain."""
        now = datetime.now(UTC).replace(microsecond=0)
        self.last_moment = max(now, self.last_moment + timedelta(seconds=1))
        return self.last_moment

    @property
    def replayed(self) -> bool:
        """Whether recorded reports stand in for a kicad-cli that is not installed."""
        return isinstance(self.kicad, Unavailable)

    async def start_runner(self) -> None:
        """Enrol, register and start a managed runner, each with the command a runner's owner would type."""
        enrolment = await run_command(
            "runner", "issue-enrollment", "--managed", "--name", "demo-runner", "--json",
            environment=self.environment,
        )  # fmt: skip
        state = str(self.folder / "runner.json")
        await run_command(
            "runner", "register", "--server", self.server_url, "--name", "demo-runner", "--state", state,
            environment=self.environment, standard_input=enrolment["enrollment_token"],
        )  # fmt: skip
        runner, _ = await Child.start(
            "runner", "run", "--state", state, *self.kicad_arguments,
            environment=self.environment, log=self.folder / "runner.log", announces=None,
            timeout_seconds=START_SECONDS,
        )  # fmt: skip
        self.children.push_async_callback(runner.stop)


def free_port(wanted: int) -> int:
    """The wanted port if it can be had, else 0: the system's choice."""
    with socket.socket() as probe_socket:
        probe_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe_socket.bind((HOST, wanted))
        except OSError:
            return 0
    return wanted


@asynccontextmanager
async def open_stage(*, port: int, kicad_path: Path | None) -> AsyncIterator[Stage]:
    """Start GitHub's stand-in and the server, and put the board there. All of it ends with the block.

    Raises ProcessFailed.
    """
    if shutil.which("git", path=executable_search_path()) is None:
        raise ProcessFailed("git is not on PATH: install git 2.31 or newer")
    key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    webhook_secret = secrets.token_hex(32)
    folder = Path(tempfile.mkdtemp(prefix="boardreadyops-demo-"))
    folder.chmod(0o711)  # the database's own user passes through, nobody lists it
    async with AsyncExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        github = await stack.enter_async_context(
            StandIn.serve(app_id=APP_ID, public_key_pem=_public_pem(key), webhook_secret=webhook_secret)
        )
        environment = _environment(folder, key, webhook_secret, github, port)
        server, line = await Child.start(
            "serve", environment=environment, log=folder / "serve.log", announces="http://",
            timeout_seconds=START_SECONDS,
        )  # fmt: skip
        stack.push_async_callback(server.stop)
        server_url = "http://" + line.split("http://", 1)[1].split()[0].rstrip("/")
        github.webhook_url = f"{server_url}/webhooks/github"
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=server_url, timeout=REQUEST_SECONDS, trust_env=False)
        )
        repository = github.create_repository(
            INSTALLATION_ID, OWNER, NAME, commits=[({"README.md": b"# power-board\n"}, "Start")]
        )
        main = repository.refs["refs/heads/main"]
        first = github.commit_tree(repository, BOARDS / "first", "Lay out the power board", main)
        fixed = github.commit_tree(repository, BOARDS / "fixed", "Keep VIN clear of GND", first)
        children = await stack.enter_async_context(AsyncExitStack())
        kicad = await probe(kicad_path, search_path=executable_search_path())
        yield Stage(
            github=github,
            server=server,
            server_url=server_url,
            client=client,
            folder=folder,
            environment=environment,
            repository=repository,
            first_commit=first,
            fixed_commit=fixed,
            kicad=kicad,
            kicad_arguments=_kicad_arguments(kicad, kicad_path),
            children=children,
        )


def _kicad_arguments(kicad: KicadCli | Unavailable, wanted: Path | None) -> tuple[str, ...]:
    if isinstance(kicad, KicadCli):
        return ("--kicad-cli", str(kicad.path))
    missing = () if wanted is None else ("--kicad-cli", str(wanted))
    return (*missing, "--recorded-reports", str(BOARDS / "recorded"))


def _public_pem(key: rsa.RSAPrivateKey) -> str:
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def _environment(
    folder: Path, key: rsa.RSAPrivateKey, webhook_secret: str, github: StandIn, port: int
) -> dict[str, str]:
    private_key = folder / "app.pem"
    private_key.touch(mode=0o600)
    private_key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    settings = {
        "DATA_DIR": str(folder / "data"),
        "HOST": HOST,
        "PORT": str(free_port(port)),
        "GITHUB_API_URL": github.api_url,
        "GITHUB_WEB_URL": github.web_url,
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_PRIVATE_KEY_FILE": str(private_key),
        "GITHUB_WEBHOOK_SECRET": webhook_secret,
    }
    return {
        "PATH": executable_search_path(),
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        **{f"BOARDREADYOPS_{name}": value for name, value in settings.items()},
    }
