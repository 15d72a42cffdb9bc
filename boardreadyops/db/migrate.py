"""Bring a database to this program's schema: roles first, then each missing migration in its own transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources.abc import Traversable

import asyncpg

from boardreadyops.config import Secret
from boardreadyops.db.migrations import Migration, MigrationRefused, load_migrations, own_migrations
from boardreadyops.db.pool import Connection, DatabaseUnavailable, Record, connect
from boardreadyops.db.roles import RolesRefused, become_owner, ensure_roles
from boardreadyops.db.statements import statement

LOCK_WAIT_SECONDS = 600.0
MIGRATION_LOCK_KEY = 0x0B0A4D  # any number nobody else uses; advisory locks are per database

__all__ = ["Fit", "Migrated", "MigrationRefused", "migrate", "schema_fits"]


@dataclass(frozen=True, slots=True)
class Migrated:
    """What this call did: the versions it applied (none when there was nothing to do), and where it ended."""

    applied: tuple[int, ...]
    version: int


class Fit(StrEnum):
    """Whether a database has the schema of this program."""

    FITS = "fits"
    DATABASE_OLDER = "database_older"
    DATABASE_NEWER = "database_newer"
    HASH_MISMATCH = "hash_mismatch"

    @property
    def advice(self) -> str:
        """One line: what it means and what to do."""
        return _ADVICE[self]


_ADVICE = {
    Fit.FITS: "the database has the schema of this program",
    Fit.DATABASE_OLDER: "the database is older than this program: run `boardreadyops migrate`",
    Fit.DATABASE_NEWER: "the database is newer than this program: upgrade the program",
    Fit.HASH_MISMATCH: (
        "the database was migrated by other migration files than this program has:"
        " install the release that migrated it, or restore a backup"
    ),
}


async def migrate(
    owner_dsn: Secret,
    *,
    secret_key: Secret | None,
    migrations: Traversable | None = None,
) -> Migrated:
    """Apply what is missing (from this folder, else the program's own); safe to repeat, also many
    times at once: one works, the others wait.

    With `secret_key` None the logins' passwords are left alone. Raises MigrationRefused, DatabaseUnavailable.
    """
    wanted = own_migrations() if migrations is None else load_migrations(migrations)
    connection = await connect(owner_dsn, application_name="boardreadyops migrate")
    try:
        async with _only_migrator(connection):
            worker = await connect(owner_dsn, application_name="boardreadyops migrate")
            try:
                return await _migrate_alone(worker, wanted, secret_key)
            finally:
                await worker.close()
    except asyncpg.PostgresConnectionError as error:
        raise DatabaseUnavailable(
            f"the database went away while migrating ({type(error).__name__})"
        ) from None
    finally:
        await connection.close()


async def schema_fits(connection: Connection, migrations: Traversable | None = None) -> Fit:
    """Compare what was applied with this program's files; reads two small statements."""
    wanted = own_migrations() if migrations is None else load_migrations(migrations)
    if not await connection.fetchval(statement("migration_table_exists")):
        return Fit.DATABASE_OLDER
    rows = await connection.fetch(statement("migration_rows"))
    for row, migration in zip(rows, wanted, strict=False):
        if row["version"] != migration.version or row["sha256"] != migration.sha256:
            return Fit.HASH_MISMATCH
    if len(rows) == len(wanted):
        return Fit.FITS
    return Fit.DATABASE_OLDER if len(rows) < len(wanted) else Fit.DATABASE_NEWER


@asynccontextmanager
async def _only_migrator(connection: Connection) -> AsyncIterator[None]:
    async with connection.transaction():
        try:
            await connection.execute(
                statement("migration_lock"), MIGRATION_LOCK_KEY, timeout=LOCK_WAIT_SECONDS
            )
        except TimeoutError:
            raise MigrationRefused(
                f"another migrator has been at work on this database for {LOCK_WAIT_SECONDS:.0f} seconds:"
                " wait for it, or end it"
            ) from None
        yield


async def _migrate_alone(
    connection: Connection, wanted: tuple[Migration, ...], secret_key: Secret | None
) -> Migrated:
    exists = await connection.fetchval(statement("migration_table_exists"))
    rows = await connection.fetch(statement("migration_rows")) if exists else []
    _refuse_foreign_history(rows, wanted)
    try:
        await ensure_roles(connection, secret_key=secret_key)
    except RolesRefused as error:
        raise MigrationRefused(str(error)) from None
    if not exists:
        async with connection.transaction():
            await become_owner(connection)
            await connection.execute(statement("migration_table"))
            await connection.execute(statement("migration_table_grant"))
    missing = wanted[len(rows) :]
    for migration in missing:
        await _apply(connection, migration)
    return Migrated(tuple(migration.version for migration in missing), wanted[-1].version)


async def _apply(connection: Connection, migration: Migration) -> None:
    try:
        async with connection.transaction():
            await become_owner(connection)
            await connection.execute(
                statement("migration_record"), migration.version, migration.name, migration.sha256
            )
            await connection.execute(migration.text)
            if not connection.is_in_transaction():
                raise MigrationRefused(f"{migration.name} ends its own transaction, which no migration may")
    except asyncpg.PostgresConnectionError:
        raise
    except asyncpg.PostgresError as error:
        position = getattr(error, "position", None)
        line = f" in line {migration.text.count(chr(10), 0, int(position)) + 1}" if position else ""
        raise MigrationRefused(
            f"migration {migration.name} failed{line} and was undone: {error.message} ({error.sqlstate})"
        ) from error


def _refuse_foreign_history(rows: list[Record], wanted: tuple[Migration, ...]) -> None:
    if rows and rows[-1]["version"] > wanted[-1].version:
        raise MigrationRefused(
            f"the database is at {rows[-1]['version']}, this program knows {wanted[-1].version}: upgrade the program"
        )
    for row, migration in zip(rows, wanted, strict=False):
        if row["version"] != migration.version:
            raise MigrationRefused(
                f"the database has {row['name']} where this program has {migration.name}: its history has a gap"
            )
        if row["sha256"] != migration.sha256:
            raise MigrationRefused(
                f"{migration.name} in the database has another SHA-256 ({row['sha256'][:12]}) than the file"
                f" ({migration.sha256[:12]}): a migration must never be edited after it ran; install the release"
                " that migrated this database"
            )
