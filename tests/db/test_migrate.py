from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from boardreadyops.config import Secret
from boardreadyops.db.cluster import with_login
from boardreadyops.db.migrate import Fit, Migrated, MigrationRefused, migrate, schema_fits
from boardreadyops.db.migrations import own_migrations
from boardreadyops.db.pool import DatabaseUnavailable, connect
from boardreadyops.db.roles import APP, login_password
from tests.conftest import TEST_SECRET_KEY

MIGRATORS_AT_ONCE = 20


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    """Two small migrations, numbered from 7."""
    (tmp_path / "0007_first.sql").write_text("CREATE TABLE first (x int);\nINSERT INTO first VALUES (1);\n")
    (tmp_path / "0008_second.sql").write_text("CREATE TABLE second AS SELECT * FROM first;\n")
    return tmp_path


async def run(dsn: Secret, migrations: Path) -> Migrated:
    return await migrate(dsn, secret_key=TEST_SECRET_KEY, migrations=migrations)


async def fit(dsn: Secret, migrations: Path) -> Fit:
    connection = await connect(dsn, application_name="tests")
    try:
        return await schema_fits(connection, migrations)
    finally:
        await connection.close()


async def test_an_empty_database_gets_everything_and_then_nothing(
    empty_database: Secret, migrations: Path
) -> None:
    assert await fit(empty_database, migrations) is Fit.DATABASE_OLDER
    assert await run(empty_database, migrations) == Migrated((7, 8), 8)
    assert await fit(empty_database, migrations) is Fit.FITS
    assert await run(empty_database, migrations) == Migrated((), 8)


async def test_only_what_is_missing_is_applied(empty_database: Secret, migrations: Path) -> None:
    await run(empty_database, migrations)
    (migrations / "0009_third.sql").write_text("CREATE TABLE third (x int);\n")
    assert await fit(empty_database, migrations) is Fit.DATABASE_OLDER
    assert await run(empty_database, migrations) == Migrated((9,), 9)


async def test_scenario_67_of_twenty_migrators_at_once_one_migrates_and_the_others_pass(
    empty_database: Secret, migrations: Path
) -> None:
    results = await asyncio.gather(*(run(empty_database, migrations) for _ in range(MIGRATORS_AT_ONCE)))
    assert sorted(result.applied for result in results) == [()] * (MIGRATORS_AT_ONCE - 1) + [(7, 8)]
    assert {result.version for result in results} == {8}


async def test_everything_belongs_to_the_owner_role(empty_database: Secret, migrations: Path) -> None:
    await run(empty_database, migrations)
    connection = await connect(empty_database, application_name="tests")
    owners = await connection.fetch(
        "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    )
    await connection.close()
    assert [row[0] for row in owners] == ["boardreadyops_owner"]


async def test_a_failing_migration_is_undone_and_named_with_its_line(
    empty_database: Secret, migrations: Path
) -> None:
    (migrations / "0009_bad.sql").write_text(
        "CREATE TABLE third (x int);\n\nCREATE TABLE wrong (x nonsense);\n"
    )
    with pytest.raises(MigrationRefused, match=r"0009_bad failed in line 3 and was undone: .*nonsense"):
        await run(empty_database, migrations)
    (migrations / "0009_bad.sql").unlink()
    assert await fit(empty_database, migrations) is Fit.FITS
    (migrations / "0009_good.sql").write_text("CREATE TABLE third (x int);\n")
    assert await run(empty_database, migrations) == Migrated((9,), 9)


async def test_a_migration_that_was_edited_after_it_ran_is_refused(
    empty_database: Secret, migrations: Path
) -> None:
    await run(empty_database, migrations)
    with (migrations / "0007_first.sql").open("a") as file:
        file.write("-- just once\n")
    assert await fit(empty_database, migrations) is Fit.HASH_MISMATCH
    with pytest.raises(MigrationRefused, match="0007_first in the database has another SHA-256"):
        await run(empty_database, migrations)


async def test_scenario_68_an_older_program_refuses_a_newer_database(
    empty_database: Secret, migrations: Path
) -> None:
    await run(empty_database, migrations)
    (migrations / "0008_second.sql").unlink()
    assert await fit(empty_database, migrations) is Fit.DATABASE_NEWER
    with pytest.raises(MigrationRefused, match="is at 8, this program knows 7: upgrade the program"):
        await run(empty_database, migrations)


async def test_a_history_with_another_beginning_is_refused(empty_database: Secret, migrations: Path) -> None:
    await run(empty_database, migrations)
    (migrations / "0006_earlier.sql").write_text("SELECT 1;\n")
    assert await fit(empty_database, migrations) is Fit.HASH_MISMATCH
    with pytest.raises(MigrationRefused, match="gap"):
        await run(empty_database, migrations)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("0010_far.sql", "0010_far must not follow 0008_second"),
        ("0008_twin.sql", "must not follow"),
        ("9_short.sql", "must be named like"),
    ],
)
async def test_missing_double_and_odd_numbers_are_refused(
    empty_database: Secret, migrations: Path, name: str, why: str
) -> None:
    (migrations / name).write_text("SELECT 1;\n")
    with pytest.raises(MigrationRefused, match=why):
        await run(empty_database, migrations)


async def test_a_program_without_migrations_says_so(empty_database: Secret, tmp_path: Path) -> None:
    with pytest.raises(MigrationRefused, match="incomplete"):
        await run(empty_database, tmp_path)


async def test_a_migration_may_not_end_its_transaction(empty_database: Secret, migrations: Path) -> None:
    (migrations / "0009_cheats.sql").write_text("COMMIT;\nCREATE TABLE third (x int);\n")
    with pytest.raises(MigrationRefused, match="0009_cheats"):
        await run(empty_database, migrations)


@pytest.fixture
async def creating_login(test_server: Secret, empty_database: Secret) -> AsyncIterator[Secret]:
    """A database whose owner may create roles and is nothing more, in a cluster where our roles exist already or not."""
    server = await connect(empty_database, application_name="tests")
    database = await server.fetchval("SELECT current_database()")
    await server.execute("CREATE ROLE test_creator LOGIN CREATEROLE PASSWORD 'creator'")
    await server.execute(f"ALTER DATABASE {database} OWNER TO test_creator")
    yield with_login(empty_database, "test_creator", Secret("creator"))
    await server.execute(f"ALTER DATABASE {database} OWNER TO CURRENT_USER")
    await server.execute("DROP OWNED BY test_creator; DROP ROLE test_creator")
    await server.close()


async def test_a_login_that_may_not_administer_existing_roles_is_refused_clearly(
    template_database: str, creating_login: Secret, migrations: Path
) -> None:
    connection = await connect(creating_login, application_name="tests")
    modern = connection.get_server_version().major >= 16
    await connection.close()
    if modern:
        with pytest.raises(MigrationRefused, match="may not prepare the roles"):
            await run(creating_login, migrations)
    else:  # PostgreSQL 15: CREATEROLE may do it
        assert await run(creating_login, migrations) == Migrated((7, 8), 8)


async def test_the_working_login_cannot_migrate(empty_database: Secret, migrations: Path) -> None:
    await run(empty_database, migrations)
    (migrations / "0009_third.sql").write_text("CREATE TABLE third (x int);\n")
    app = with_login(empty_database, APP, login_password(TEST_SECRET_KEY, APP))
    with pytest.raises(MigrationRefused):
        await migrate(app, secret_key=None, migrations=migrations)


async def test_a_database_that_is_away_is_said_to_be(migrations: Path) -> None:
    with pytest.raises(DatabaseUnavailable):
        await run(Secret("postgresql://nobody:secret@127.0.0.1:1/none"), migrations)


async def test_the_logins_read_what_was_applied_and_cannot_write_it(empty_database: Secret) -> None:
    await migrate(empty_database, secret_key=TEST_SECRET_KEY)
    app = await connect(
        with_login(empty_database, APP, login_password(TEST_SECRET_KEY, APP)), application_name="tests"
    )
    assert await schema_fits(app) is Fit.FITS
    assert await app.fetchval("SELECT max(version) FROM schema_migrations") == own_migrations()[-1].version
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await app.execute("DELETE FROM schema_migrations")
    await app.close()


def test_every_fit_has_its_own_advice() -> None:
    assert len({fit.advice for fit in Fit}) == len(Fit)
    assert "boardreadyops migrate" in Fit.DATABASE_OLDER.advice
    assert "upgrade the program" in Fit.DATABASE_NEWER.advice
