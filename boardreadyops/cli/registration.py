"""`boardreadyops runner register`: turn an enrolment token into a stored registration."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import assert_never
from urllib.parse import urlsplit

from boardreadyops import __version__
from boardreadyops.agent.checkout import is_loopback
from boardreadyops.agent.registration import Registration, state_path, store
from boardreadyops.agent.server import Denied, RunnerServer, Unavailable
from boardreadyops.cli.exits import GOOD, NOT_AVAILABLE, USAGE
from boardreadyops.config import Secret, Settings, make_data_dir
from boardreadyops.runner.protocol import RegistrationAnswer, RegistrationRequest

MAX_TOKEN_FILE_CHARACTERS = 4_096


def register(arguments: argparse.Namespace) -> int:
    """Register, store the token, print where; the exit code."""
    settings = Settings.from_environment()
    path = arguments.state or state_path(settings.data_dir, arguments.name)
    token = _enrollment_token(settings, arguments.token_file)
    if isinstance(token, str):
        return _failed(token, USAGE)
    # The enrolment serves once: make sure first that there is a place for what it gives.
    problem = _reserve(path)
    if problem is not None:
        return _failed(problem, USAGE)
    stored = False
    try:
        answer = asyncio.run(_register(arguments.server, arguments.name, token))
        match answer:
            case RegistrationAnswer():
                store(path, Registration(arguments.server, answer.registration_id, answer.token))
                stored = True
            case Denied():
                return _failed(answer.detail, USAGE)
            case Unavailable():
                return _failed(answer.detail, NOT_AVAILABLE)
            case _:
                assert_never(answer)
    finally:
        if not stored:
            path.unlink(missing_ok=True)
    print(f"registered as {arguments.name}; the registration is kept in {path}")
    if not arguments.server.startswith("https:") and not is_loopback(
        urlsplit(arguments.server).hostname or ""
    ):
        print(
            "boardreadyops runner register: tokens travel unencrypted to this http address", file=sys.stderr
        )
    return GOOD


async def _register(server_url: str, name: str, token: Secret) -> RegistrationAnswer | Denied | Unavailable:
    async with RunnerServer(server_url) as server:
        return await server.register(
            RegistrationRequest(enrollment_token=token, name=name, version=__version__)
        )


def _enrollment_token(settings: Settings, token_file: str | None) -> Secret | str:
    """The token, or in one line why there is none."""
    if token_file is None and settings.enrollment_token is not None:
        text = settings.enrollment_token.reveal()
    elif token_file in {None, "-"}:
        if sys.stdin.isatty():
            return "give the enrolment token on standard input or with --token-file"
        text = sys.stdin.read(MAX_TOKEN_FILE_CHARACTERS)
    else:
        assert token_file is not None
        try:
            with Path(token_file).open(encoding="ascii") as file:
                text = file.read(MAX_TOKEN_FILE_CHARACTERS)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            return f"the token file {token_file} cannot be read ({reason})"
    text = text.strip()
    if not text.startswith("bre_") or not text.isascii() or not text.isprintable() or " " in text:
        return "that is no enrolment token: it begins with bre_"
    return Secret(text)


def _reserve(path: Path) -> str | None:
    try:
        make_data_dir(path.parent)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return f"{path} holds a registration already: remove it first, or choose another --name"
    except OSError as error:
        return f"{path} cannot be written ({error.strerror})"
    return None


def _failed(line: str, exit_code: int) -> int:
    print(f"boardreadyops runner register: {line}", file=sys.stderr)
    return exit_code
