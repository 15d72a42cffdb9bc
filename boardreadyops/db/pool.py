"""Connections: one pool per login, and one exception for "the database is away"."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias, TypeVar

import asyncpg
import orjson
from asyncpg.pool import Pool, PoolConnectionProxy

from boardreadyops.config import Secret

CONNECT_TIMEOUT_SECONDS = 5.0
ACQUIRE_TIMEOUT_SECONDS = 5.0
COMMAND_TIMEOUT_SECONDS = 30.0
CLOSE_TIMEOUT_SECONDS = 10.0
IDLE_CONNECTION_SECONDS = 300.0
CACHED_STATEMENTS = 256
TRANSACTION_ATTEMPTS = 5
RETRY_PAUSE_SECONDS = 0.01
MAX_RETRY_PAUSE_SECONDS = 0.5

Record: TypeAlias = asyncpg.Record
Connection: TypeAlias = "asyncpg.Connection[Record] | PoolConnectionProxy[Record]"

# What PostgreSQL says about a statement itself; for those who go on with the next row.
StatementFailed: TypeAlias = asyncpg.PostgresError

Answer = TypeVar("Answer")

_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.InternalClientError,
)
_NOT_CONNECTED = (
    *_UNAVAILABLE,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.UndefinedObjectError,  # a parameter in the URL that PostgreSQL does not know
    asyncpg.InterfaceError,
    TimeoutError,
)
_REPEATABLE = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)


class DatabaseUnavailable(Exception):
    """The database cannot be used at the moment. The text names the kind of failure, never an address or login."""


class DatabaseStarting(DatabaseUnavailable):
    """The server is there and takes no connections yet: it starts, or recovers from a crash."""


class Database:
    """One pool of connections under one login.

    Connections go back unreset, which is safe only because nothing here keeps session state: every setting
    is `SET LOCAL`, no `SET ROLE`, no session advisory locks, no `LISTEN` (that takes its own connection).
    """

    def __init__(self, pool: Pool[Record]) -> None:
        self._pool = pool

    @classmethod
    async def open(
        cls,
        dsn: Secret,
        *,
        max_connections: int,
        application_name: str,
        cached_statements: int = CACHED_STATEMENTS,
    ) -> Database:
        """Make a pool and one connection in it, to know that the database answers; DatabaseUnavailable.

        Behind a PgBouncer that does not track prepared statements give `cached_statements=0`.
        """
        try:
            pool = await asyncpg.create_pool(
                dsn.reveal(),
                min_size=1,
                max_size=max_connections,
                max_inactive_connection_lifetime=IDLE_CONNECTION_SECONDS,
                timeout=CONNECT_TIMEOUT_SECONDS,
                command_timeout=COMMAND_TIMEOUT_SECONDS,
                statement_cache_size=cached_statements,
                server_settings={"application_name": application_name},
                init=_teach_json,
                reset=_keep_session,
            )
        except (*_NOT_CONNECTED, OSError, ValueError) as error:
            raise _unavailable(error) from None
        return cls(pool)

    @property
    def exhausted(self) -> bool:
        """Whether every connection it may have is in use now."""
        return self._pool.get_size() >= self._pool.get_max_size() and self._pool.get_idle_size() == 0

    async def close(self) -> None:
        """Return all connections; those still busy after CLOSE_TIMEOUT_SECONDS are cut. Again: nothing."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """One connection in autocommit; DatabaseUnavailable, also for what fails inside the block."""
        try:
            connection = await self._pool.acquire(timeout=ACQUIRE_TIMEOUT_SECONDS)
        except (*_NOT_CONNECTED, OSError) as error:
            raise _unavailable(error) from None
        try:
            with _failures_named(connection):
                yield connection
        finally:
            await self._pool.release(connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """One READ COMMITTED transaction: committed at the end of the block, undone by an exception."""
        async with self.connection() as connection, connection.transaction(isolation="read_committed"):
            yield connection


async def run_transaction(
    database: Database,
    work: Callable[[Connection], Awaitable[Answer]],
    *,
    attempts: int = TRANSACTION_ATTEMPTS,
) -> Answer:
    """Do `work` in a transaction, again after a serialization failure or deadlock; it must be safe to repeat.

    After `attempts` such failures: DatabaseUnavailable. A connection lost in between is not repeated here.
    """
    for attempt in range(1, attempts + 1):
        try:
            async with database.transaction() as connection:
                return await work(connection)
        except _REPEATABLE as error:
            if attempt >= attempts:
                raise _unavailable(error) from None
            pause_seconds = min(MAX_RETRY_PAUSE_SECONDS, RETRY_PAUSE_SECONDS * 2**attempt)
            await asyncio.sleep(random.uniform(0, pause_seconds))
    raise ValueError("attempts must be at least 1")


async def connect(dsn: Secret, *, application_name: str) -> asyncpg.Connection[Record]:
    """One connection outside any pool, for the migrator and the like; the caller closes it. DatabaseUnavailable."""
    try:
        connection: asyncpg.Connection[Record] = await asyncpg.connect(
            dsn.reveal(),
            timeout=CONNECT_TIMEOUT_SECONDS,
            statement_cache_size=0,
            server_settings={"application_name": application_name},
        )
        await _teach_json(connection)
    except (*_NOT_CONNECTED, OSError, ValueError) as error:
        raise _unavailable(error) from None
    return connection


@contextmanager
def _failures_named(connection: Connection) -> Iterator[None]:
    try:
        yield
    except asyncpg.ReadOnlySQLTransactionError as error:
        connection.terminate()  # a demoted leader answers for ever; a new connection finds the new one
        raise _unavailable(error) from None
    except (*_UNAVAILABLE, TimeoutError) as error:
        raise _unavailable(error) from None
    except (asyncpg.InterfaceError, ConnectionError) as error:
        if not _is_gone(connection):
            raise
        raise _unavailable(error) from None


def _is_gone(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True  # the pool has thrown it away already


def _unavailable(error: BaseException) -> DatabaseUnavailable:
    kind = DatabaseStarting if isinstance(error, asyncpg.CannotConnectNowError) else DatabaseUnavailable
    return kind(f"the database cannot be used now ({type(error).__name__})")


async def _teach_json(connection: Connection) -> None:
    for name in ("json", "jsonb"):
        await connection.set_type_codec(
            name, schema="pg_catalog", encoder=_json_text, decoder=orjson.loads, format="text"
        )


def _json_text(value: object) -> str:
    return orjson.dumps(value).decode()


async def _keep_session(connection: Connection) -> None:
    """Nothing to reset: see `Database`. An open transaction was already undone by asyncpg."""
