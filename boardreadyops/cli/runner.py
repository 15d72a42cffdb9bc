"""`boardreadyops runner issue-enrollment | register | once | run | list | revoke | rotate`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

DEFAULT_ENROLLMENT_TTL_SECONDS = 900
MAX_ENROLLMENT_TTL_SECONDS = 3_600
MAX_RUNNER_NAME_CHARACTERS = 100

Subparsers = argparse._SubParsersAction  # the standard library's only name for it


def add_commands(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Add `runner` and its commands."""
    runner = subparsers.add_parser(
        "runner",
        help="enrol, register and run the runner that checks boards",
        description="A runner takes work from the server, fetches the commit and checks it with kicad-cli."
        " Exit codes: 0 good, 1 the server refused a result, 2 usage, settings or a refused runner,"
        " 3 not available.",
    )
    commands = runner.add_subparsers(required=True, metavar="COMMAND")
    _add_issue_enrollment(commands)
    _add_register(commands)
    for name, line in (("once", "take one piece of work, then leave"), ("run", "work until SIGTERM")):
        _add_work(commands, name, line)
    _add_list(commands)
    for name, line, printed in (
        ("revoke", "void a registration and end its leases at once", "registration_id, outcome"),
        (
            "rotate",
            "give a registration a new token; the old one ends, leases go on",
            "registration_id, token",
        ),
    ):
        _add_change(commands, name, line, printed)


def _add_issue_enrollment(commands: Subparsers[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "issue-enrollment",
        help="let one runner register (on the server's machine)",
        description="Print a token with which one runner can register, once, within its life.",
    )
    whom = parser.add_mutually_exclusive_group(required=True)
    whom.add_argument("--installation", type=_positive, metavar="N", help="GitHub's installation id")
    whom.add_argument("--managed", action="store_true", help="the operator's own, for all installations")
    parser.add_argument("--name", type=_name, required=True, help="what the runner is called on pages")
    parser.add_argument(
        "--repository",
        type=_full_name,
        action="append",
        default=[],
        metavar="OWNER/NAME",
        help="only this one of the installation's repositories; can be repeated",
    )
    parser.add_argument(
        "--ttl-seconds", type=_ttl, default=DEFAULT_ENROLLMENT_TTL_SECONDS, metavar="N", help="at most 3600"
    )
    parser.add_argument("--json", action="store_true", help="print {enrollment_token, expires_at} as JSON")
    parser.set_defaults(handler=_handler("boardreadyops.cli.enrollment", "issue_enrollment"))


def _add_register(commands: Subparsers[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "register",
        help="register this machine with an enrolment token",
        description="The enrolment token is read from --token-file, else from BOARDREADYOPS_ENROLLMENT_TOKEN,"
        " else from standard input; never from an argument, which others could see.",
    )
    parser.add_argument("--server", type=_server, required=True, metavar="URL", help="the server's address")
    parser.add_argument("--name", type=_name, required=True, help="what the runner is called")
    parser.add_argument(
        *("--token-file", "--enrollment-token-file"),
        dest="token_file",
        metavar="FILE",
        help="holds the enrolment token; - is standard input",
    )
    _add_state(parser)
    parser.set_defaults(handler=_handler("boardreadyops.cli.registration", "register"))


def _add_work(commands: Subparsers[argparse.ArgumentParser], name: str, line: str) -> None:
    parser = commands.add_parser(name, help=line)
    parser.add_argument("--name", type=_name, help="which registered runner; needed if there are several")
    _add_state(parser)
    parser.add_argument("--work-folder", type=Path, metavar="DIR", help="where checkouts live for a while")
    parser.add_argument("--kicad-cli", type=Path, metavar="FILE", help="the kicad-cli to use")
    parser.add_argument(
        "--capability",
        type=_capability,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="declare this besides kicad and arch; can be repeated",
    )
    # The demo's: replays reports where kicad-cli is missing, and is refused for servers on other machines.
    parser.add_argument("--recorded-reports", type=Path, metavar="DIR", help=argparse.SUPPRESS)
    parser.set_defaults(handler=_handler("boardreadyops.cli.runner_work", f"work_{name}"))


def _add_list(commands: Subparsers[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("list", help="the registered runners (on the server's machine)")
    parser.add_argument("--all", action="store_true", help="revoked ones too")
    parser.add_argument("--json", action="store_true", help="print {items, complete} as JSON")
    parser.set_defaults(handler=_handler("boardreadyops.cli.runners", "list_command"))


def _add_change(commands: Subparsers[argparse.ArgumentParser], name: str, line: str, printed: str) -> None:
    parser = commands.add_parser(
        name, help=f"{line} (on the server's machine)", description=f"{line[0].upper()}{line[1:]}."
    )
    parser.add_argument("id", type=_registration_id, metavar="ID", help="as `runner list` shows it")
    parser.add_argument("--json", action="store_true", help=f"print {{{printed}}} as JSON")
    parser.set_defaults(handler=_handler("boardreadyops.cli.runners", f"{name}_command"))


def _add_state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="where the registration is kept (DATA_DIR/runner/NAME.json)",
    )


def _handler(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """The function, imported when it is called: `--help` needs neither database nor HTTP."""

    def call(arguments: argparse.Namespace) -> int:
        from importlib import import_module

        exit_code: int = getattr(import_module(module), function)(arguments)
        return exit_code

    return call


def _positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError("give GitHub's number, such as 12345678")
    return int(text)


def _registration_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "give the whole id, such as 6fce774c-1426-4d9b-b554-e6d63b5b1e4d"
        ) from None


def _ttl(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MAX_ENROLLMENT_TTL_SECONDS:
        raise argparse.ArgumentTypeError(f"give 1 to {MAX_ENROLLMENT_TTL_SECONDS} seconds")
    return int(text)


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text) or len(text) > MAX_RUNNER_NAME_CHARACTERS:
        raise argparse.ArgumentTypeError(
            f"take up to {MAX_RUNNER_NAME_CHARACTERS} letters, digits, dots, dashes and underscores"
        )
    return text


def _full_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}", text):
        raise argparse.ArgumentTypeError("write OWNER/NAME")
    return text


def _capability(text: str) -> str:
    from boardreadyops.runner.protocol import CAPABILITY_PATTERN

    if not re.fullmatch(CAPABILITY_PATTERN, text):
        raise argparse.ArgumentTypeError("write NAME or NAME=VALUE, such as gpu or arch=x86_64")
    return text


def _server(text: str) -> str:
    try:
        parts = urlsplit(text)
        complete = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        complete = False
    if not complete or not text.isascii() or any(mark in text for mark in " @?#") or not text.isprintable():
        raise argparse.ArgumentTypeError("write https://host or https://host:port")
    return text.rstrip("/")
