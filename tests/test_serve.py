"""`serve` as a process: it starts, says where it is, answers, drains; and refuses in one line."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from boardreadyops.config import Secret, Settings
from boardreadyops.db.pool import Connection
from boardreadyops.serve import OneLineFormatter, ServeRefused, served
from tests.conftest import TEST_SECRET_KEY, DatabaseUrls

START_SECONDS = 60.0
STOP_SECONDS = 30.0
MAX_IDLE_BYTES = 120 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Served:
    """A server process that listens."""

    process: Process
    address: str

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what it wrote to standard error."""
        self.process.send_signal(number)
        async with asyncio.timeout(STOP_SECONDS):
            _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


def environment(**settings: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BOARDREADYOPS_")}
    return inherited | {f"BOARDREADYOPS_{name}": value for name, value in settings.items()}


async def start(settings: Mapping[str, str]) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "boardreadyops", "serve", env=environment(**settings), stdout=PIPE, stderr=PIPE
    )


@asynccontextmanager
async def server(**settings: str) -> AsyncIterator[Served]:
    process = await start({"PORT": "0", **settings})
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = (await process.stdout.readline()).decode()
        found = re.fullmatch(r"BoardReadyOps is at (http://127\.0\.0\.1:\d+)\n", line)
        if found is None:
            _, errors = await process.communicate()
            raise AssertionError(line + errors.decode())
        yield Served(process, found[1])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def refused(**settings: str) -> tuple[int, str]:
    """The exit code and the one line of a server that does not start."""
    process = await start({"PORT": "0", **settings})
    async with asyncio.timeout(START_SECONDS):
        output, errors = await process.communicate()
    assert output == b""
    (line,) = errors.decode().splitlines()
    assert process.returncode is not None
    return process.returncode, line


async def resident_bytes(process_id: int) -> int:
    """The memory a process holds, PostgreSQL's own processes apart."""
    asked = await asyncio.create_subprocess_exec("ps", "-o", "rss=", "-p", str(process_id), stdout=PIPE)
    output, _ = await asked.communicate()
    return int(output) * 1024


def given(urls: DatabaseUrls, data_dir: Path) -> dict[str, str]:
    """Settings for a database that somebody else migrated and made the logins of."""
    return {
        "DATABASE_URL": urls.app.reveal(),
        "MIGRATION_DATABASE_URL": urls.owner.reveal(),
        "READER_DATABASE_URL": urls.reader.reveal(),
        "SECRET_KEY": TEST_SECRET_KEY.reveal(),
        "DATA_DIR": str(data_dir),
    }


async def test_it_serves_its_own_database_stays_small_and_refuses_a_second_on_the_folder(
    data_dir: Path,
) -> None:
    async with server(DATA_DIR=str(data_dir)) as running, httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{running.address}/readyz")).json() == {"status": "ready"}
        assert "No board has been asked about yet." in (await client.get(running.address)).text
        assert await resident_bytes(running.process.pid) <= MAX_IDLE_BYTES
        code, line = await refused(DATA_DIR=str(data_dir))
        assert (code, "in use by another serve" in line) == (3, True)
        code, errors = await running.stop()
        assert code == 0
        assert "Traceback" not in errors


async def test_it_serves_a_given_database_and_stops_at_ctrl_c(
    database_urls: DatabaseUrls, data_dir: Path
) -> None:
    async with server(**given(database_urls, data_dir)) as running:
        async with httpx.AsyncClient(base_url=running.address, trust_env=False) as client:
            assert (await client.get("/readyz")).status_code == 200
            locked = await client.get("/")
            assert (locked.status_code, "OPERATOR_TOKEN" in locked.text) == (401, True)
        code, _ = await running.stop(signal.SIGINT)
        assert code == 0


async def test_a_taken_port_is_one_line(database_urls: DatabaseUrls, data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, line = await refused(**{**given(database_urls, data_dir), "PORT": port})
    assert code == 3
    assert f"port {port} of 127.0.0.1 is taken" in line


async def test_a_host_of_another_machine_is_one_line(data_dir: Path) -> None:
    code, line = await refused(DATA_DIR=str(data_dir), HOST="192.0.2.1")
    assert (code, "BOARDREADYOPS_HOST" in line) == (3, True)


async def test_a_database_that_is_away_is_one_line(data_dir: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"postgresql://somebody:hidden@127.0.0.1:{closed.getsockname()[1]}/nothing"
        code, line = await refused(DATABASE_URL=url, SECRET_KEY="k" * 40, DATA_DIR=str(data_dir))
    assert code == 3
    assert "database cannot be used" in line
    assert "hidden" not in line


async def test_a_bad_setting_is_one_line(data_dir: Path) -> None:
    code, line = await refused(DATA_DIR=str(data_dir), LEASE_SECONDS="1")
    assert (code, "BOARDREADYOPS_LEASE_SECONDS" in line) == (2, True)


async def test_a_folder_that_cannot_be_used_is_one_line(data_dir: Path) -> None:
    (data_dir / "file").touch()
    code, line = await refused(DATA_DIR=str(data_dir / "file" / "below"))
    assert (code, "BOARDREADYOPS_DATA_DIR" in line) == (2, True)


async def test_a_private_key_that_is_none_is_one_line_and_not_shown(data_dir: Path) -> None:
    key = "-----BEGIN PRIVATE KEY-----\\nhidden\\n-----END PRIVATE KEY-----"
    code, line = await refused(DATA_DIR=str(data_dir), GITHUB_APP_ID="1", GITHUB_PRIVATE_KEY=key)
    assert (code, "BOARDREADYOPS_GITHUB_PRIVATE_KEY" in line) == (2, True)
    assert "hidden" not in line


def settings_for(urls: DatabaseUrls, data_dir: Path, *, app: Secret | None = None) -> Settings:
    return Settings(
        data_dir=data_dir,
        artifact_store=data_dir.as_uri(),
        port=0,
        database_url=app or urls.app,
        migration_database_url=urls.owner,
        reader_database_url=urls.reader,
        secret_key=TEST_SECRET_KEY,
    )


async def test_a_schema_that_does_not_fit_is_refused_with_what_to_do(
    database_urls: DatabaseUrls, owner_connection: Connection, data_dir: Path
) -> None:
    await owner_connection.execute("DELETE FROM schema_migrations WHERE version = 29")
    with pytest.raises(ServeRefused, match="run `boardreadyops migrate`"):
        async with served(settings_for(database_urls, data_dir)):
            pass


async def test_a_database_that_was_never_migrated_is_refused_with_what_to_do(
    empty_database: Secret, data_dir: Path
) -> None:
    code, line = await refused(
        DATABASE_URL=empty_database.reveal(), SECRET_KEY="k" * 40, DATA_DIR=str(data_dir)
    )
    assert (code, "run `boardreadyops migrate`" in line) == (3, True)


async def test_a_login_that_could_write_lifecycle_rows_is_refused(
    database_urls: DatabaseUrls, data_dir: Path
) -> None:
    with pytest.raises(ServeRefused, match="is superuser"):
        async with served(settings_for(database_urls, data_dir, app=database_urls.owner)):
            pass


async def test_the_deployments_clocks_are_stored_at_the_start(
    database_urls: DatabaseUrls, owner_connection: Connection, data_dir: Path
) -> None:
    from dataclasses import replace

    settings = replace(settings_for(database_urls, data_dir), lease_seconds=33)
    async with served(settings, with_worker=False) as (address, _):
        assert address.startswith("http://127.0.0.1:")
        assert await owner_connection.fetchval("SELECT lease_seconds FROM deployment_settings") == 33


def test_a_log_line_is_one_line_with_the_error_in_it() -> None:
    try:
        raise ValueError("first\nsecond\x1b[31m")
    except ValueError:
        record = logging.getLogger("x").makeRecord(
            "x", logging.ERROR, "f", 1, "it %s", ("broke",), sys.exc_info()
        )
    line = OneLineFormatter().format(record)
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ERROR x: it broke \(ValueError: first second", line)
    assert "\n" not in line
    assert "\x1b" not in line
