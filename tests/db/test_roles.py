from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from boardreadyops.config import Secret
from boardreadyops.db.cluster import with_database, with_login
from boardreadyops.db.embedded import EmbeddedPostgres
from boardreadyops.db.migrate import migrate
from boardreadyops.db.pool import Connection, Database, connect
from boardreadyops.db.roles import (
    APP,
    GUARDED_TABLES,
    LoginRefused,
    RolesRefused,
    assert_login_cannot_write,
    ensure_roles,
    login_password,
    scram_verifier,
    verifies,
)
from tests.conftest import FAST_BUT_UNSAFE, TEST_SECRET_KEY, DatabaseUrls


@pytest.fixture
async def plain_role(test_server: Secret) -> AsyncIterator[str]:
    """A login that is nothing special, dropped afterwards with what it owns."""
    name = "test_plain_login"
    connection = await connect(test_server, application_name="tests")
    await connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'plain'")
    yield name
    await connection.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    await connection.close()


def test_a_verifier_matches_its_password_only() -> None:
    verifier = scram_verifier(Secret("right")).reveal()
    assert verifies(verifier, Secret("right"))
    assert not verifies(verifier, Secret("wrong"))
    for other in ("", "md5abc", "SCRAM-SHA-256$x:y$z", "SCRAM-SHA-256$4096:!$a:b", verifier + "="):
        assert not verifies(other, Secret("right"))


def test_the_verifier_of_the_rfc_7677_example_is_right() -> None:
    verifier = scram_verifier(
        Secret("pencil"), bytes.fromhex("5b6d99689d12358eec a04b14 12 36fa81".replace(" ", ""))
    )
    assert verifier.reveal() == (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
        ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )


def test_each_key_and_role_has_its_own_password() -> None:
    passwords = {
        login_password(Secret(key), role).reveal() for key in ("a", "b") for role in ("app", "reader")
    }
    assert len(passwords) == 4
    assert {len(password) for password in passwords} == {64}


async def test_the_server_accepts_the_verifier_made_here(database_urls: DatabaseUrls) -> None:
    for dsn, role in ((database_urls.app, APP), (database_urls.reader, "boardreadyops_reader")):
        connection = await connect(dsn, application_name="tests")
        assert await connection.fetchval("SELECT session_user") == role
        await connection.close()


async def test_no_password_is_in_a_statement(
    database_urls: DatabaseUrls, owner_connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr("boardreadyops.db.roles.verifies", lambda _verifier, _password: False)
    with owner_connection.query_logger(lambda record: seen.append(record.query)):
        await ensure_roles(owner_connection, secret_key=TEST_SECRET_KEY)
    password = login_password(TEST_SECRET_KEY, APP).reveal()
    assert any(f"ALTER ROLE {APP} PASSWORD 'SCRAM-SHA-256$" in query for query in seen)
    assert not any(password in query for query in seen)


async def test_roles_that_are_right_are_left_alone(owner_connection: Connection) -> None:
    async def rows() -> list[object]:
        return [
            tuple(row) for row in await owner_connection.fetch("SELECT xmin, * FROM pg_authid ORDER BY oid")
        ]

    before = await rows()
    await ensure_roles(owner_connection, secret_key=TEST_SECRET_KEY)
    assert await rows() == before


async def test_public_has_nothing_and_temporary_tables_are_refused(
    database_urls: DatabaseUrls, app_database: Database, owner_connection: Connection, plain_role: str
) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with app_database.connection() as connection:
            await connection.execute("CREATE TEMPORARY TABLE release_runs (id int)")
    outsider = with_login(database_urls.owner, plain_role, Secret("plain"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await asyncpg.connect(outsider.reveal())
    assert not await owner_connection.fetchval(
        "SELECT count(*) FROM pg_proc AS p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a"
        " WHERE p.pronamespace = 'public'::regnamespace AND a.grantee = 0"
    )


@pytest.fixture
def fresh_server(data_dir: Path) -> Iterator[Secret]:
    """A cluster of its own, where our roles do not exist yet and may be changed."""
    server = EmbeddedPostgres.attach_or_start(data_dir, FAST_BUT_UNSAFE)
    yield server.owner_dsn
    server.release()


async def test_many_databases_of_one_cluster_get_their_roles_at_once(fresh_server: Secret) -> None:
    server = await connect(fresh_server, application_name="tests")
    names = [f"race_{number}" for number in range(8)]
    for name in names:
        await server.execute(f"CREATE DATABASE {name}")
    connections = [
        await connect(with_database(fresh_server, name), application_name="tests") for name in names
    ]
    # Another key for each round: every connection must make, then change the same rows.
    for key in ("first", "second", "third"):
        await asyncio.gather(*(ensure_roles(one, secret_key=Secret(key)) for one in connections))
    for one in (*connections, server):
        await one.close()
    app = with_login(with_database(fresh_server, names[-1]), APP, login_password(Secret("third"), APP))
    await (await connect(app, application_name="tests")).close()


async def test_a_creating_login_that_is_not_superuser_can_migrate_its_own_database(
    fresh_server: Secret,
) -> None:
    server = await connect(fresh_server, application_name="tests")
    await server.execute("CREATE ROLE creator LOGIN CREATEROLE PASSWORD 'creator'")
    await server.execute("CREATE DATABASE theirs OWNER creator")
    await server.close()
    dsn = with_login(with_database(fresh_server, "theirs"), "creator", Secret("creator"))
    assert (await migrate(dsn, secret_key=TEST_SECRET_KEY)).applied
    assert (await migrate(dsn, secret_key=TEST_SECRET_KEY)).applied == ()
    app = await connect(with_login(dsn, APP, login_password(TEST_SECRET_KEY, APP)), application_name="tests")
    await assert_login_cannot_write(app)
    await app.close()


async def test_a_role_with_too_many_rights_is_refused(owner_connection: Connection) -> None:
    async with owner_connection.transaction():
        await owner_connection.execute(f"ALTER ROLE {APP} CREATEROLE BYPASSRLS")
        with pytest.raises(RolesRefused, match=f"role {APP} is CREATEROLE BYPASSRLS"):
            await ensure_roles(owner_connection, secret_key=None)
        await owner_connection.execute(f"ALTER ROLE {APP} NOCREATEROLE NOBYPASSRLS")


async def test_a_login_that_does_not_own_the_database_is_refused(
    empty_database: Secret, plain_role: str
) -> None:
    superuser = await connect(empty_database, application_name="tests")
    await ensure_roles(superuser, secret_key=TEST_SECRET_KEY)
    await superuser.execute(
        f"GRANT CONNECT, TEMP ON DATABASE {await superuser.fetchval('SELECT current_database()')} TO PUBLIC"
    )
    outsider = await connect(
        with_login(empty_database, plain_role, Secret("plain")), application_name="tests"
    )
    with pytest.raises(RolesRefused):
        await ensure_roles(outsider, secret_key=None)
    await outsider.close()
    await superuser.close()


async def test_the_two_logins_may_serve(app_database: Database, reader_database: Database) -> None:
    for database in (app_database, reader_database):
        async with database.connection() as connection:
            await assert_login_cannot_write(connection)


async def test_owner_and_superuser_may_not_serve(owner_connection: Connection) -> None:
    with pytest.raises(LoginRefused, match="is superuser"):
        await assert_login_cannot_write(owner_connection)
    async with owner_connection.transaction():
        await owner_connection.execute("SET LOCAL ROLE boardreadyops_owner")
        with pytest.raises(LoginRefused, match="may act as boardreadyops_owner"):
            await assert_login_cannot_write(owner_connection)


async def first_column(owner: Connection, table: str) -> str:
    name: str = await owner.fetchval(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum = 1", table
    )
    return name


@pytest.mark.parametrize(
    "privilege", ["INSERT", "UPDATE", "DELETE", "TRUNCATE", "UPDATE ({})", "INSERT ({})"]
)
async def test_a_login_that_could_write_any_guarded_table_may_not_serve(
    owner_connection: Connection, app_database: Database, privilege: str
) -> None:
    for table in sorted(GUARDED_TABLES):
        granted = privilege.format(await first_column(owner_connection, table))
        await owner_connection.execute(f"GRANT {granted} ON {table} TO {APP}")
        async with app_database.connection() as connection:
            with pytest.raises(LoginRefused, match=f"may {privilege.partition(' ')[0]} on {table}"):
                await assert_login_cannot_write(connection)
        await owner_connection.execute(f"REVOKE {granted} ON {table} FROM {APP}")
    async with app_database.connection() as connection:
        await assert_login_cannot_write(connection)


@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM {0}", "UPDATE {0} SET {1} = DEFAULT", "INSERT INTO {0} DEFAULT VALUES", "TRUNCATE {0}"],
)
async def test_the_working_login_is_refused_lifecycle_writes(
    owner_connection: Connection, app_database: Database, sql: str
) -> None:
    for table in sorted(GUARDED_TABLES):
        column = await first_column(owner_connection, table)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with app_database.connection() as connection:
                await connection.execute(sql.format(table, column))


async def test_the_working_login_plans_its_statements_once_a_session(
    fresh_server: Secret,
) -> None:
    owner = await connect(fresh_server, application_name="tests")
    await owner.execute("CREATE DATABASE planned")
    planned = with_database(fresh_server, "planned")
    await migrate(planned, secret_key=TEST_SECRET_KEY)
    await owner.execute(f"ALTER ROLE {APP} RESET plan_cache_mode")
    await migrate(planned, secret_key=TEST_SECRET_KEY)
    app = await connect(
        with_login(planned, APP, login_password(TEST_SECRET_KEY, APP)), application_name="tests"
    )
    assert await app.fetchval("SHOW plan_cache_mode") == "force_generic_plan"
    await app.close()
    await owner.close()
