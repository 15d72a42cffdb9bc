from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from boardreadyops.config import Secret, Settings
from boardreadyops.db import cluster
from boardreadyops.db.binaries import server_user
from boardreadyops.db.cluster import logins, user_of, with_database, with_login
from boardreadyops.db.migrate import migrate
from boardreadyops.db.pool import DatabaseUnavailable, connect
from boardreadyops.db.postmaster import Postmaster
from boardreadyops.db.roles import APP, READER, login_password

KEY = "k" * 40
PATIENCE_SECONDS = 60


def settings(data_dir: Path, **urls: str) -> Settings:
    names = {f"BOARDREADYOPS_{name}": url for name, url in urls.items()}
    return Settings.from_environment(
        {"BOARDREADYOPS_DATA_DIR": str(data_dir), "BOARDREADYOPS_SECRET_KEY": KEY, **names}
    )


def postmaster(data_dir: Path) -> Postmaster:
    path = data_dir / "postgres" / "cluster"
    return Postmaster(path, server_user(path))


async def test_without_a_url_the_embedded_server_serves_all_three_logins(data_dir: Path) -> None:
    async with logins(settings(data_dir)) as found:
        assert found.embedded
        assert found.owner is not None
        await migrate(found.owner, secret_key=found.password_key)
        for dsn, role in ((found.app, APP), (found.reader, READER)):
            connection = await connect(dsn, application_name="tests")
            assert (
                await connection.fetchval("SELECT session_user || '@' || current_database()")
                == f"{role}@boardreadyops"
            )
            await connection.close()
        async with logins(settings(data_dir)) as second:
            assert second == found
        assert postmaster(data_dir).is_live()
    assert not postmaster(data_dir).is_live()


async def test_a_server_killed_while_in_use_comes_back_with_what_was_committed(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "WATCH_SECONDS", 0.05)
    async with logins(settings(data_dir)) as found:
        assert found.owner is not None
        connection = await connect(found.owner, application_name="tests")
        await connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        running = postmaster(data_dir).pid_file()
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        connection.terminate()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    connection = await connect(found.owner, application_name="tests")
                    break
                except DatabaseUnavailable:
                    await asyncio.to_thread(os.sched_yield)  # a refused connect does not yield to the loop
        assert await connection.fetchval("SELECT answer FROM kept") == 42
        await connection.close()


async def test_ctrl_c_while_the_server_starts_leaves_no_server(data_dir: Path) -> None:
    async def use() -> None:
        async with logins(settings(data_dir)):
            raise AssertionError("cancelled before that")

    using = asyncio.create_task(use())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not list(data_dir.glob("postgres/cluster*")):
            await asyncio.to_thread(os.sched_yield)
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    assert not postmaster(data_dir).is_live()


async def test_one_url_is_the_owners_and_the_logins_are_derived(data_dir: Path) -> None:
    url = "postgresql://boss:p%40ss@one:5432,two:5433/db?target_session_attrs=read-write"
    async with logins(settings(data_dir, DATABASE_URL=url)) as found:
        assert found.owner == Secret(url)
        for dsn, role in ((found.app, APP), (found.reader, READER)):
            password = login_password(Secret(KEY), role).reveal()
            assert dsn == Secret(
                f"postgresql://{role}:{password}@one:5432,two:5433/db?target_session_attrs=read-write"
            )
        assert (found.embedded, found.password_key) == (False, Secret(KEY))


async def test_with_a_url_to_migrate_the_others_are_taken_as_they_are(data_dir: Path) -> None:
    urls = {
        "MIGRATION_DATABASE_URL": "postgresql://m:1@h/d",
        "DATABASE_URL": "postgresql://a:2@h/d",
        "READER_DATABASE_URL": "postgresql://r:3@h/d",
    }
    async with logins(settings(data_dir, **urls)) as found:
        assert [found.owner, found.app, found.reader] == [Secret(url) for url in urls.values()]
        assert found.password_key is None


async def test_a_replica_that_has_the_working_login_only_cannot_migrate(data_dir: Path) -> None:
    url = f"postgresql://{APP}:chosen@h/d"
    async with logins(settings(data_dir, DATABASE_URL=url)) as found:
        assert (found.owner, found.app) == (None, Secret(url))


@pytest.mark.parametrize(
    ("dsn", "changed"),
    [
        ("postgresql:///db?host=/run/pg&user=me&password=x", "postgresql://u:p%2F@/db?host=%2Frun%2Fpg"),
        ("postgresql://h", "postgresql://u:p%2F@h"),
        ("postgres://me@[::1]:5/db", "postgres://u:p%2F@[::1]:5/db"),
    ],
)
def test_a_login_is_replaced_wherever_the_url_keeps_it(dsn: str, changed: str) -> None:
    assert with_login(Secret(dsn), "u", Secret("p/")).reveal() == changed


def test_the_parts_of_a_url_are_found() -> None:
    assert user_of(Secret("postgresql://a%40b:c@h/d")) == "a@b"
    assert user_of(Secret("postgresql:///d?user=me")) == "me"
    assert user_of(Secret("postgresql://h/d")) is None
    assert (
        with_database(Secret("postgresql://a@h/d?x=1"), "new db").reveal() == "postgresql://a@h/new%20db?x=1"
    )
