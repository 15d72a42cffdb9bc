"""`boardreadyops runner list | revoke | rotate`: on the server's machine, straight into its database."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from boardreadyops.cli.exits import GOOD, NOT_AVAILABLE, USAGE
from boardreadyops.cli.operator_database import Unfit, in_database
from boardreadyops.cli.tables import table, terminal_width
from boardreadyops.config import Settings
from boardreadyops.db.pool import Connection
from boardreadyops.db.runners import ListedRunner, list_runners, revoke_runner, rotate_runner_token
from boardreadyops.domain.plain_text import one_line
from boardreadyops.runner.credentials import new_token, token_digest

MAX_LISTED_RUNNERS = 1_000
MAX_CELL_CHARACTERS = 100
HEADINGS = ("id", "name", "serves", "state", "version", "last heartbeat")

Answer = TypeVar("Answer")


def list_command(arguments: argparse.Namespace) -> int:
    """Print the registered runners; the exit code."""

    async def work(connection: Connection) -> tuple[ListedRunner, ...]:
        return await list_runners(connection, with_revoked=arguments.all, limit=MAX_LISTED_RUNNERS + 1)

    found = _ask(work)
    if isinstance(found, Unfit):
        return _failed("list", found.line, NOT_AVAILABLE)
    shown, complete = found[:MAX_LISTED_RUNNERS], len(found) <= MAX_LISTED_RUNNERS
    if arguments.json:
        print(json.dumps({"items": [_document(runner) for runner in shown], "complete": complete}, indent=2))
        return GOOD
    if not shown:
        print("no runner is registered; `boardreadyops runner issue-enrollment` lets one register")
        return GOOD
    for line in table(HEADINGS, [_row(runner) for runner in shown], width=terminal_width()):
        print(line)
    if not complete:
        print(f"only the first {MAX_LISTED_RUNNERS:,} are shown", file=sys.stderr)
    return GOOD


def revoke_command(arguments: argparse.Namespace) -> int:
    """Void a registration and end its leases; the exit code."""

    async def work(connection: Connection) -> str:
        return await revoke_runner(connection, registration_id=arguments.id)

    outcome = _ask(work)
    match outcome:
        case Unfit():
            return _failed("revoke", outcome.line, NOT_AVAILABLE)
        case "not_found":
            return _unknown("revoke", arguments)
        case _:
            pass
    if arguments.json:
        print(json.dumps({"registration_id": str(arguments.id), "outcome": outcome}))
    elif outcome == "existing":
        print(f"runner {arguments.id} was revoked before")
    else:
        print(
            f"runner {arguments.id} is revoked: its token and its leases have ended, its runs wait for others"
        )
    return GOOD


def rotate_command(arguments: argparse.Namespace) -> int:
    """Give a registration a new token and print it, this once; the exit code."""
    token = new_token("brr_")

    async def work(connection: Connection) -> str:
        return await rotate_runner_token(
            connection, registration_id=arguments.id, token_digest=token_digest(token)
        )

    outcome = _ask(work)
    match outcome:
        case Unfit():
            return _failed("rotate", outcome.line, NOT_AVAILABLE)
        case "not_found":
            return _unknown("rotate", arguments)
        case "revoked":
            words = f"runner {arguments.id} is revoked; a new enrolment lets its machine register again"
            return _failed("rotate", words, USAGE)
        case _:
            pass
    if arguments.json:
        print(json.dumps({"registration_id": str(arguments.id), "token": token.reveal()}))
    else:
        print(token.reveal())
        words = "the old token has ended, leases go on; put this one into the runner's registration file"
        print(f"{words} and start the runner again", file=sys.stderr)
    return GOOD


def _ask(work: Callable[[Connection], Awaitable[Answer]]) -> Answer | Unfit:
    settings = Settings.from_environment()
    return asyncio.run(in_database(settings, work, application_name="boardreadyops runner"))


def _row(runner: ListedRunner) -> tuple[str, ...]:
    cells = (
        str(runner.id),
        runner.name,
        _serves(runner),
        _state(runner),
        runner.runner_version,
        _time(runner.last_heartbeat_at) or "never",
    )
    return tuple(one_line(cell, limit_characters=MAX_CELL_CHARACTERS) for cell in cells)


def _serves(runner: ListedRunner) -> str:
    if runner.installation_id is None:
        return "all (managed)"
    if runner.repositories is not None:
        return ", ".join(runner.repositories) or "nothing that is left"
    return runner.account_login or f"installation {runner.installation_id}"


def _state(runner: ListedRunner) -> str:
    if runner.revoked_at is not None:
        return "revoked"
    return f"working on {runner.active_leases}" if runner.active_leases else "idle"


def _document(runner: ListedRunner) -> dict[str, object]:
    return {
        "id": str(runner.id),
        "name": runner.name,
        "version": runner.runner_version,
        "installation_id": runner.installation_id,
        "account": runner.account_login,
        "repositories": runner.repositories,
        "created_at": _time(runner.created_at),
        "revoked_at": _time(runner.revoked_at),
        "active_leases": runner.active_leases,
        "last_heartbeat_at": _time(runner.last_heartbeat_at),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _unknown(command: str, arguments: argparse.Namespace) -> int:
    words = f"no runner has the id {arguments.id}; `boardreadyops runner list --all` shows them"
    return _failed(command, words, USAGE)


def _failed(command: str, line: str, exit_code: int) -> int:
    print(f"boardreadyops runner {command}: {line}", file=sys.stderr)
    return exit_code
