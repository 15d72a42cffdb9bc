"""`boardreadyops migrate`."""

from __future__ import annotations

import argparse
import asyncio
import json

from boardreadyops.cli.exits import GOOD
from boardreadyops.config import Settings, SettingsError
from boardreadyops.db.cluster import logins
from boardreadyops.db.migrate import Migrated, migrate


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `migrate` to the program's commands."""
    parser = subparsers.add_parser(
        "migrate",
        help="bring the database to this program's schema",
        description="Apply what is missing: safe to repeat, safe to run many times at once."
        " Exit code 0 done, 1 refused, 2 settings, 3 database not available.",
    )
    parser.add_argument("--json", action="store_true", help="print {applied, version} as JSON")
    parser.set_defaults(handler=migrate_command)


def migrate_command(arguments: argparse.Namespace) -> int:
    """Migrate the configured database; the exit code."""
    migrated = asyncio.run(_migrate(Settings.from_environment()))
    if arguments.json:
        print(json.dumps({"applied": migrated.applied, "version": migrated.version}))
    elif migrated.applied:
        print(f"applied {len(migrated.applied)} migrations; the database is at {migrated.version}")
    else:
        print(f"nothing to do; the database is at {migrated.version}")
    return GOOD


async def _migrate(settings: Settings) -> Migrated:
    async with logins(settings) as found:
        if found.owner is None:
            raise SettingsError(
                "BOARDREADYOPS_DATABASE_URL names the working login, which cannot migrate:"
                " set BOARDREADYOPS_MIGRATION_DATABASE_URL, or DATABASE_URL to the owner's"
            )
        return await migrate(found.owner, secret_key=found.password_key)
