"""`boardreadyops verify transition-writers`."""

from __future__ import annotations

import argparse
import asyncio
import json

from boardreadyops.cli.exits import BAD_RESULT, GOOD
from boardreadyops.config import Secret, Settings
from boardreadyops.db.cluster import logins
from boardreadyops.db.gate import live, offline
from boardreadyops.db.gate.finding import Finding
from boardreadyops.db.pool import connect


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `verify` to the program's commands."""
    parser = subparsers.add_parser("verify", help="verify that what must hold does hold")
    subjects = parser.add_subparsers(required=True, metavar="SUBJECT")
    writers = subjects.add_parser(
        "transition-writers",
        help="only the guarded functions change the lifecycle",
        description="Read this program's files, then the database, and name every way around the guarded functions:"
        " direct writers, dynamic SQL, changed functions, rights, triggers and policies. Reads only."
        " Exit code 0 clean, 1 findings, 2 settings, 3 database not available.",
    )
    where = writers.add_mutually_exclusive_group()
    where.add_argument("--offline", action="store_true", help="read the files only; needs no database")
    where.add_argument(
        "--fresh", action="store_true", help="read a new database that is migrated for this and thrown away"
    )
    writers.add_argument("--json", action="store_true", help="print {findings, database} as JSON")
    writers.set_defaults(handler=transition_writers_command)


def transition_writers_command(arguments: argparse.Namespace) -> int:
    """Run the gate; the exit code."""
    found = offline.check()
    if not arguments.offline:
        found += _fresh() if arguments.fresh else asyncio.run(_configured(Settings.from_environment()))
    if arguments.json:
        print(
            json.dumps(
                {"findings": [finding.as_json() for finding in found], "database": not arguments.offline}
            )
        )
        return BAD_RESULT if found else GOOD
    for finding in found:
        print(finding)
    where = "this program's files" if arguments.offline else "this program's files and the database"
    if not found:
        print(f"only the guarded functions change the lifecycle: {where} agree with what is meant")
    return BAD_RESULT if found else GOOD


async def _configured(settings: Settings) -> list[Finding]:
    async with logins(settings) as found:
        return await _live(found.owner or found.app)


def _fresh() -> list[Finding]:
    from boardreadyops.db.snapshot import throwaway_database

    with throwaway_database() as database:
        return asyncio.run(_live(database))


async def _live(database: Secret) -> list[Finding]:
    connection = await connect(database, application_name="boardreadyops verify")
    try:
        return await live.check(connection)
    finally:
        await connection.close()
