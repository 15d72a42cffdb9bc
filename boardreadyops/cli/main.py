"""`boardreadyops`: find the command, import it alone, turn what is known to go wrong into one line and an exit code.

Exit codes: 0 good, 1 bad result, 2 usage or settings, 3 not available; 130 after Ctrl-C, 141 when nobody reads on.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NoReturn, TextIO

from boardreadyops import __version__
from boardreadyops.cli.exits import BAD_RESULT, BROKEN_PIPE, GOOD, INTERRUPTED, NOT_AVAILABLE, USAGE
from boardreadyops.domain.plain_text import one_line

MAX_HELP_WIDTH_CHARACTERS = 100
MIN_HELP_WIDTH_CHARACTERS = 40
MAX_ERROR_CHARACTERS = 1_000

# By name, so that knowing an error does not import the module that raises it.
KNOWN_ERRORS = {
    "boardreadyops.config.SettingsError": USAGE,
    "boardreadyops.db.binaries.EmbeddedPostgresError": NOT_AVAILABLE,
    "boardreadyops.db.migrations.MigrationRefused": BAD_RESULT,
    "boardreadyops.db.pool.DatabaseUnavailable": NOT_AVAILABLE,
    "boardreadyops.db.roles.RolesRefused": USAGE,
    "boardreadyops.serve.ServeRefused": NOT_AVAILABLE,
    "boardreadyops.agent.registration.RegistrationError": USAGE,
}


# What to look at, where the error itself cannot know it.
ADVICE = {
    "boardreadyops.db.pool.DatabaseUnavailable": (
        ": does it run, and are BOARDREADYOPS_DATABASE_URL and BOARDREADYOPS_SECRET_KEY"
        " those it was migrated with?"
    ),
}


@dataclass(frozen=True, slots=True)
class Command:
    """A command's name, the module that adds it to a parser, and its line in the help."""

    name: str
    module: str
    line: str


GROUPS: dict[str, tuple[Command, ...]] = {
    "See it work": (
        Command("demo", "demo", "watch a board get its answer, with nothing to set up"),
        Command("check", "check", "check the KiCad projects in a folder"),
    ),
    "Run the control plane": (
        Command("serve", "serve", "webhooks, runner API, pages and GitHub updates"),
        Command("migrate", "database", "bring the database to this program's schema"),
        Command("verify", "verify", "verify that only the guarded functions change the lifecycle"),
        Command("bench", "bench", "measure the guarded functions on this machine"),
    ),
    "Run the checks": (Command("runner", "runner", "enrol, register and run the runner that checks boards"),),
}
COMMANDS = {command.name: command for group in GROUPS.values() for command in group}


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line that says where to read on."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line; exit code 2."""
        _complain(f"{self.prog.removeprefix('boardreadyops ')}: {message} (see {self.prog} --help)")
        raise SystemExit(USAGE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        exit_code = _run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not trip over it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        known = _known(error)
        if known is not None:
            _complain(f"{error}{ADVICE.get(known, '')}")
            return KNOWN_ERRORS[known]
        raise
    return exit_code


def _run(given: list[str]) -> int:
    match given[:1]:
        case [] | ["-h"] | ["--help"] | ["help"]:
            _print_help(sys.stdout if given else sys.stderr)
            return GOOD if given else USAGE
        case ["-V"] | ["--version"]:
            print(f"boardreadyops {__version__}")
            return GOOD
        case _:
            pass
    command = COMMANDS.get(given[0])
    if command is None:
        close = difflib.get_close_matches(given[0], COMMANDS, n=1)
        advice = f"did you mean {close[0]}?" if close else "see boardreadyops --help"
        _complain(f"{given[0][:40]!r} is no command: {advice}")
        return USAGE
    parser = OneLineParser(prog="boardreadyops", allow_abbrev=False)
    subparsers = parser.add_subparsers(parser_class=OneLineParser, required=True)
    import_module(f"boardreadyops.cli.{command.module}").add_commands(subparsers)
    parsed, unknown = parser.parse_known_args(given)
    if unknown:
        subparsers.choices[command.name].error(f"unrecognized arguments: {' '.join(unknown)}")
    exit_code: int = parsed.handler(parsed)
    return exit_code


def _known(error: Exception) -> str | None:
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__)
    return next((name for name in names if name in KNOWN_ERRORS), None)


def _complain(line: str) -> None:
    print(f"boardreadyops: {one_line(line, limit_characters=MAX_ERROR_CHARACTERS)}", file=sys.stderr)


def _print_help(out: TextIO) -> None:
    columns = shutil.get_terminal_size().columns
    width = max(MIN_HELP_WIDTH_CHARACTERS, min(columns - 1, MAX_HELP_WIDTH_CHARACTERS))
    print("usage: boardreadyops COMMAND …\n", file=out)
    about = "One trustworthy answer on every KiCad pull request: is this board ready to fabricate?"
    print(textwrap.fill(about, width), file=out)
    for title, commands in GROUPS.items():
        print(f"\n{title}", file=out)
        for command in commands:
            print(
                textwrap.fill(
                    command.line, width, initial_indent=f"  {command.name:<9}", subsequent_indent=" " * 11
                ),
                file=out,
            )
    more = "boardreadyops COMMAND --help tells more. Settings are environment variables: BOARDREADYOPS_…"
    print("\n" + textwrap.fill(more, width), file=out)
