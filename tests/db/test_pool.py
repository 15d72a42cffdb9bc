import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from boardreadyops.config import Secret
from boardreadyops.db.pool import Connection, Database, DatabaseUnavailable, run_transaction
from tests.conftest import DatabaseUrls


@pytest.fixture
async def owner_database(database_urls: DatabaseUrls) -> AsyncIterator[Database]:
    database = await Database.open(database_urls.owner, max_connections=4, application_name="tests owner")
    yield database
    await database.close()


async def test_json_goes_in_and_out_as_values(app_database: Database) -> None:
    async with app_database.connection() as connection:
        assert await connection.fetchval("SELECT $1::jsonb", {"a": [1, None, "ü"]}) == {"a": [1, None, "ü"]}
        assert await connection.fetchval("SELECT '[1]'::json") == [1]


async def test_an_exception_undoes_the_transaction(owner_database: Database) -> None:
    async def make_and_fail() -> None:
        async with owner_database.transaction() as connection:
            await connection.execute("CREATE TABLE t (x int)")
            raise LookupError

    with pytest.raises(LookupError):
        await make_and_fail()
    async with owner_database.connection() as connection:
        assert await connection.fetchval("SELECT to_regclass('t')") is None


async def test_transactions_are_read_committed_whatever_the_server_prefers(owner_database: Database) -> None:
    async with owner_database.connection() as connection:
        await connection.execute("SET default_transaction_isolation = 'serializable'")
    async with owner_database.transaction() as connection:
        assert await connection.fetchval("SHOW transaction_isolation") == "read committed"


async def test_a_local_setting_ends_with_its_transaction(app_database: Database) -> None:
    async with app_database.transaction() as connection:
        await connection.execute("SET LOCAL boardreadyops.tenant = '7'")
    async with app_database.connection() as connection:
        assert not await connection.fetchval("SELECT current_setting('boardreadyops.tenant', true)")


async def test_a_terminated_connection_is_named_and_the_next_one_works(
    app_database: Database, owner_connection: Connection
) -> None:
    async def be_terminated() -> None:
        async with app_database.transaction() as connection:
            pid = await connection.fetchval("SELECT pg_backend_pid()")
            await owner_connection.execute("SELECT pg_terminate_backend($1, 5000)", pid)
            await connection.fetchval("SELECT 1")

    with pytest.raises(DatabaseUnavailable):
        await be_terminated()
    async with app_database.connection() as connection:
        assert await connection.fetchval("SELECT 1") == 1


async def test_an_exhausted_pool_says_unavailable(
    app_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.TaskGroup() as group:
        held, done = asyncio.Semaphore(0), asyncio.Event()

        async def hold() -> None:
            async with app_database.connection():
                held.release()
                await done.wait()

        for _ in range(8):
            group.create_task(hold())
        for _ in range(8):
            await held.acquire()
        monkeypatch.setattr("boardreadyops.db.pool.ACQUIRE_TIMEOUT_SECONDS", 0.05)
        with pytest.raises(DatabaseUnavailable, match="TimeoutError"):
            async with app_database.connection():
                pass
        done.set()


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://someone:hunter2@127.0.0.1:1/nothing",
        "postgresql://someone:hunter2@/nothing?host=/nowhere",
        "postgresql://someone:hunter2@127.0.0.1:port/nothing",
    ],
)
async def test_an_unreachable_database_is_one_exception_without_its_address(dsn: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        await Database.open(Secret(dsn), max_connections=1, application_name="tests")
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_wrong_password_is_unavailable_too(database_urls: DatabaseUrls) -> None:
    wrong = Secret(database_urls.app.reveal().replace("boardreadyops_app:", "boardreadyops_app:x"))
    with pytest.raises(DatabaseUnavailable, match="InvalidPasswordError"):
        await Database.open(wrong, max_connections=1, application_name="tests")


async def test_a_mistake_in_a_statement_keeps_its_own_exception(app_database: Database) -> None:
    with pytest.raises(asyncpg.UndefinedTableError):
        async with app_database.connection() as connection:
            await connection.execute("SELECT * FROM nothing_of_that_name")
    with pytest.raises(asyncpg.DataError):
        async with app_database.connection() as connection:
            await connection.fetchval("SELECT $1::int", "text")


async def test_a_deadlock_is_repeated_until_both_are_done(owner_database: Database) -> None:
    async with owner_database.connection() as connection:
        await connection.execute(
            "CREATE TABLE counters AS SELECT n, 0 AS value FROM generate_series(1, 2) AS n"
        )
    both_hold_one = asyncio.Barrier(2)
    first_time = {1, 2}

    async def add(first: int, second: int) -> None:
        async def work(connection: Connection) -> None:
            await connection.execute("UPDATE counters SET value = value + 1 WHERE n = $1", first)
            if first in first_time:
                first_time.discard(first)
                await both_hold_one.wait()
            await connection.execute("UPDATE counters SET value = value + 1 WHERE n = $1", second)

        await run_transaction(owner_database, work)

    await asyncio.gather(add(1, 2), add(2, 1))
    async with owner_database.connection() as connection:
        assert await connection.fetchval("SELECT array_agg(value) FROM counters") == [2, 2]


async def test_endless_conflicts_end_as_unavailable(app_database: Database) -> None:
    async def conflict(connection: Connection) -> None:
        await connection.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")

    with pytest.raises(DatabaseUnavailable, match="SerializationError"):
        await run_transaction(app_database, conflict, attempts=2)
