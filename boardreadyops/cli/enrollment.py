"""`boardreadyops runner issue-enrollment`: on the server's machine, straight into its database."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import assert_never

from boardreadyops.cli.exits import GOOD, NOT_AVAILABLE, USAGE
from boardreadyops.cli.operator_database import Unfit, in_database
from boardreadyops.config import Settings
from boardreadyops.db.metadata import find_repositories
from boardreadyops.db.pool import Connection
from boardreadyops.db.runners import Enrollment, issue_runner_enrollment
from boardreadyops.runner.credentials import new_token, token_digest


def issue_enrollment(arguments: argparse.Namespace) -> int:
    """Print an enrolment token; it is shown this once. The exit code."""
    if arguments.repository and arguments.managed:
        return _failed("--repository goes with --installation only", USAGE)
    return asyncio.run(_issue(Settings.from_environment(), arguments))


async def _issue(settings: Settings, arguments: argparse.Namespace) -> int:
    token = new_token("bre_")

    async def work(connection: Connection) -> Enrollment:
        return await _ask(connection, arguments, token_digest(token))

    answer = await in_database(settings, work, application_name="boardreadyops runner")
    if isinstance(answer, Unfit):
        return _failed(answer.line, NOT_AVAILABLE)
    match answer.outcome:
        case "issued":
            assert answer.expires_at is not None
            expires_at = answer.expires_at.isoformat().replace("+00:00", "Z")
            if arguments.json:
                print(json.dumps({"enrollment_token": token.reveal(), "expires_at": expires_at}))
            else:
                print(token.reveal())
                print(f"one runner can register with this token until {expires_at}", file=sys.stderr)
            return GOOD
        case "not_found":
            where = f"installation {arguments.installation}"
            names = ", ".join(arguments.repository)
            unknown = (
                f"{where} does not exist here, or {names} is not its own"
                if names
                else f"{where} is not known here"
            )
            return _failed(f"{unknown}; GitHub tells it with its first webhook", USAGE)
        case "invalid":
            return _failed("the life of an enrolment is 1 to 3600 seconds", USAGE)
        case _:
            assert_never(answer.outcome)


async def _ask(connection: Connection, arguments: argparse.Namespace, digest: bytes) -> Enrollment:
    repository_ids = await _repository_ids(connection, arguments)
    if repository_ids is not None and len(repository_ids) < len(set(map(str.lower, arguments.repository))):
        return Enrollment("not_found", None)
    return await issue_runner_enrollment(
        connection,
        installation_id=arguments.installation,
        repository_ids=repository_ids,
        name=arguments.name,
        token_digest=digest,
        ttl_seconds=arguments.ttl_seconds,
    )


async def _repository_ids(connection: Connection, arguments: argparse.Namespace) -> list[int] | None:
    if not arguments.repository:
        return None
    found = await find_repositories(connection, arguments.repository)
    return sorted(one.id for one in found if one.installation_id == arguments.installation)


def _failed(line: str, exit_code: int) -> int:
    print(f"boardreadyops runner issue-enrollment: {line}", file=sys.stderr)
    return exit_code
