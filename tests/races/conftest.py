"""One database for a whole folder of races, on each worker."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from boardreadyops.config import Secret
from boardreadyops.db.cluster import derived_logins, with_database
from boardreadyops.db.pool import Database, connect
from boardreadyops.db.roles import ensure_roles
from tests.conftest import TEST_SECRET_KEY
from tests.races.arena import Arena
from tests.races.scheduler import Scheduler

SIDES = 3


async def _on_server(server: Secret, *statements: str) -> None:
    connection = await connect(server, application_name="tests")
    try:
        for sql in statements:
            await connection.execute(sql)
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def races_database(test_server: Secret, template_database: str) -> Iterator[Secret]:
    """A superuser's URL; a deadlock is found at once, since each look for one costs its time."""
    name = f"races_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
    asyncio.run(
        _on_server(
            test_server,
            f"CREATE DATABASE {name} TEMPLATE {template_database}",
            f"ALTER DATABASE {name} SET deadlock_timeout = '20ms'",
        )
    )
    yield with_database(test_server, name)
    asyncio.run(_on_server(test_server, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def arena_of_module(races_database: Secret) -> AsyncIterator[Arena]:
    login = derived_logins(races_database, TEST_SECRET_KEY, embedded=False).app
    async with AsyncExitStack() as stack:
        superuser = await Database.open(races_database, max_connections=3, application_name="races owner")
        stack.push_async_callback(superuser.close)
        owner, gate, watch = [await stack.enter_async_context(superuser.connection()) for _ in range(3)]
        await ensure_roles(owner, secret_key=None)  # a copy has the schema's grants, not the database's
        application = await Database.open(login, max_connections=SIDES + 1, application_name="races app")
        stack.push_async_callback(application.close)
        app, *sides = [await stack.enter_async_context(application.connection()) for _ in range(SIDES + 1)]
        arena = Arena(Scheduler(sides, gate, watch), app, owner)
        await arena.found()
        yield arena


@pytest_asyncio.fixture(loop_scope="module")
async def arena(arena_of_module: Arena) -> Arena:
    """Empty, whatever the test before left."""
    await arena_of_module.empty()
    return arena_of_module
