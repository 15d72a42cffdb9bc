"""One PostgreSQL for the whole test run, one database per test.

BOARDREADYOPS_TEST_POSTGRES=15 takes the installed PostgreSQL of that version; BOARDREADYOPS_TEST_DATABASE_URL, a
superuser's URL, runs the same tests against a server that is there already (15 to 18).
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from boardreadyops.config import Secret
from boardreadyops.db import binaries
from boardreadyops.db.binaries import find_binaries, server_user
from boardreadyops.db.cluster import derived_logins, with_database
from boardreadyops.db.embedded import EmbeddedPostgres
from boardreadyops.db.migrate import migrate
from boardreadyops.db.pool import Connection, Database, connect
from boardreadyops.db.postmaster import Postmaster
from boardreadyops.db.roles import ensure_roles
from tests.model.reading import read_picture
from tests.model.replay import disagreements
from tests.model.session import EPOCH

TEST_SECRET_KEY = Secret("test-secret-key-0123456789abcdef-test-secret-key")
FAST_BUT_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
MEMORY_FOLDER_BYTES = 12 * 1024**3  # the plan tests hold two million runs
_FOLDER_VARIABLE = "BOARDREADYOPS_TEST_FOLDER"  # made by the first process, inherited by the xdist workers
_SERVER_VARIABLE = "BOARDREADYOPS_TEST_DATABASE_URL"
_MAJOR_VARIABLE = "BOARDREADYOPS_TEST_POSTGRES"
_MUTANT_VARIABLE = "BOARDREADYOPS_TEST_MUTANT"  # SQL that tools/mutate runs behind the migrations
_database_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """A fresh, migrated database and the URLs of its three logins; `owner` is a superuser here."""

    owner: Secret
    app: Secret
    reader: Secret
    secret_key: Secret


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ[_FOLDER_VARIABLE] = tempfile.mkdtemp(prefix="boardreadyops-tests-", dir=_roomy_folder())


def _roomy_folder() -> str:
    """Memory where there is plenty of it: a database per test is mostly files written and removed."""
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free >= MEMORY_FOLDER_BYTES:
        return str(memory)
    return "/tmp"


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(_FOLDER_VARIABLE), ignore_errors=True)


@pytest.fixture(scope="session")
def test_server() -> Iterator[Secret]:
    """A superuser's URL; the server is shared by all xdist workers and stopped by the last."""
    given = os.environ.get(_SERVER_VARIABLE)
    if given is not None:
        yield Secret(given)
        return
    with pytest.MonkeyPatch.context() as patch:
        if (wanted := os.environ.get(_MAJOR_VARIABLE)) is not None:
            patch.setattr(binaries, "find_binaries", lambda _: find_binaries(int(wanted)))
        server = EmbeddedPostgres.attach_or_start(Path(os.environ[_FOLDER_VARIABLE]), FAST_BUT_UNSAFE)
    yield server.owner_dsn
    server.release()


@pytest.fixture(scope="session")
def template_database(test_server: Secret) -> Iterator[str]:
    """The name of a migrated database that tests copy; one per xdist worker."""
    name = f"template_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"

    async def make() -> None:
        await _on_server(test_server, f"CREATE DATABASE {name}")
        await migrate(with_database(test_server, name), secret_key=TEST_SECRET_KEY)
        if (mutant := os.environ.get(_MUTANT_VARIABLE)) is not None:
            await _on_server(with_database(test_server, name), Path(mutant).read_text(encoding="utf-8"))

    asyncio.run(make())
    yield name
    asyncio.run(_on_server(test_server, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
async def empty_database(test_server: Secret) -> AsyncIterator[Secret]:
    """A superuser's URL of a new database without any schema."""
    name = _next_name()
    await _on_server(test_server, f"CREATE DATABASE {name}")
    yield with_database(test_server, name)
    await _on_server(test_server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database_urls(
    request: pytest.FixtureRequest, test_server: Secret, template_database: str
) -> AsyncIterator[DatabaseUrls]:
    """A new copy of the migrated database."""
    name = _next_name()
    await _on_server(test_server, f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY file_copy")
    owner = with_database(test_server, name)
    connection = await connect(owner, application_name="tests")
    try:
        await ensure_roles(connection, secret_key=None)  # a copy has the schema's grants, not the database's
    finally:
        await connection.close()
    logins = derived_logins(owner, TEST_SECRET_KEY, embedded=False)
    yield DatabaseUrls(owner, logins.app, logins.reader, TEST_SECRET_KEY)
    try:
        if request.node.get_closest_marker("by_hand") is None:
            await _assert_events_replay(owner)
    finally:
        await _on_server(test_server, f"DROP DATABASE {name} WITH (FORCE)")


async def _assert_events_replay(owner: Secret) -> None:
    """After every test: its events, replayed through the model, give the status and version of every row."""
    connection = await connect(owner, application_name="tests replay")
    try:
        if await connection.fetchval("SELECT EXISTS (SELECT FROM release_run_transition_events)"):
            assert disagreements((await read_picture(connection, EPOCH)).state) == []
    finally:
        await connection.close()


@pytest.fixture
async def app_database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    """The working login's pool."""
    database = await Database.open(database_urls.app, max_connections=8, application_name="tests app")
    yield database
    await database.close()


@pytest.fixture
async def reader_database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    """The reading login's pool."""
    database = await Database.open(database_urls.reader, max_connections=4, application_name="tests reader")
    yield database
    await database.close()


@pytest.fixture
async def owner_connection(database_urls: DatabaseUrls) -> AsyncIterator[Connection]:
    """A superuser's connection, for seeding and for looking behind the functions."""
    connection = await connect(database_urls.owner, application_name="tests owner")
    yield connection
    await connection.close()


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A DATA_DIR that the database's user can reach also when the tests run as root; its server ends with it."""
    folder = Path(tempfile.mkdtemp(prefix="boardreadyops-test-", dir="/tmp"))
    yield folder
    for cluster in folder.glob("**/postgres/cluster"):
        Postmaster(cluster, server_user(cluster)).stop()
    while leftovers := _processes_on(folder):  # an initdb whose caller a test has killed
        for pid in leftovers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder)


def _processes_on(folder: Path) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.fsencode(folder) in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def _next_name() -> str:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    return f"test_{worker}_{os.getpid()}_{next(_database_numbers)}"


async def _on_server(server: Secret, sql: str) -> None:
    connection = await connect(server, application_name="tests")
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
