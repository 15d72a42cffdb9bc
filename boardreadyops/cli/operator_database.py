"""The deployment's database for an operator's command on the server's machine: one transaction, if its schema fits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from boardreadyops.config import Secret, Settings
from boardreadyops.db.cluster import logins
from boardreadyops.db.migrate import Fit, migrate, schema_fits
from boardreadyops.db.pool import Connection, Database, connect

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Unfit:
    """This program cannot work with this database, and in one line why."""

    line: str


async def in_database(
    settings: Settings, work: Callable[[Connection], Awaitable[Answer]], *, application_name: str
) -> Answer | Unfit:
    """What the work answers with the working login. An embedded database is started and migrated for it."""
    async with logins(settings) as found:
        if found.embedded and found.owner is not None:
            await migrate(found.owner, secret_key=found.password_key)
        if found.owner is not None:
            # A database that was never migrated has no working login yet: say that, not that its password is wrong.
            unfit = await _misfit(found.owner, application_name)
            if unfit is not None:
                return unfit
        database = await Database.open(found.app, max_connections=1, application_name=application_name)
        try:
            async with database.transaction() as connection:
                fit = await schema_fits(connection)
                return await work(connection) if fit is Fit.FITS else Unfit(fit.advice)
        finally:
            await database.close()


async def _misfit(owner: Secret, application_name: str) -> Unfit | None:
    connection = await connect(owner, application_name=application_name)
    try:
        fit = await schema_fits(connection)
    finally:
        await connection.close()
    return None if fit is Fit.FITS else Unfit(fit.advice)
