"""Where a registered runner keeps its token: one file that only its owner can read."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from boardreadyops.config import Secret, make_data_dir
from boardreadyops.runner.wire import Id, Message, Refused, Text, Token, read_message

MAX_STATE_BYTES = 16 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class RegistrationError(Exception):
    """The stored registration cannot be used. The text is one line: which file, what is wrong, what to do."""


class _Stored(Message):
    server: Text
    registration_id: Id
    token: Token


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered runner: its server's URL and its token there."""

    server: str
    registration_id: UUID
    token: Secret


def state_path(data_dir: Path, name: str) -> Path:
    """The file of the runner of this name; RegistrationError for a name that cannot be a file's."""
    if not _NAME.fullmatch(name):
        raise RegistrationError(
            f"the name {name[:40]!r} cannot be used: take up to 100 letters, digits, dots, dashes, underscores"
        )
    return data_dir / "runner" / f"{name}.json"


def only_state_path(data_dir: Path) -> Path:
    """The file of the only runner registered here; RegistrationError if there is none, or more than one."""
    found = sorted((data_dir / "runner").glob("*.json"))
    if not found:
        raise RegistrationError("no runner is registered here: run `boardreadyops runner register` first")
    if len(found) > 1:
        names = ", ".join(path.stem for path in found[:5])
        raise RegistrationError(f"several runners are registered here ({names}): choose one with --name")
    return found[0]


def store(path: Path, registration: Registration) -> None:
    """Write the file, complete or not at all, readable for its owner alone. RegistrationError."""
    document = {
        "server": registration.server,
        "registration_id": str(registration.registration_id),
        "token": registration.token.reveal(),
    }
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        make_data_dir(path.parent)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(document) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise RegistrationError(f"{path} cannot be written ({error.strerror})") from error


def load(path: Path) -> Registration:
    """Read the file; RegistrationError, also when others can read it."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            body = file.read(MAX_STATE_BYTES)
    except FileNotFoundError:
        raise RegistrationError(f"{path} does not exist: run `boardreadyops runner register` first") from None
    except OSError as error:
        raise RegistrationError(f"{path} cannot be read ({error.strerror})") from error
    if stat.S_IMODE(mode) & 0o077:
        raise RegistrationError(f"{path} can be read by others: make it private with chmod 600")
    stored = read_message(_Stored, body)
    if isinstance(stored, Refused):
        raise RegistrationError(f"{path} is damaged ({stored.detail}): register this runner again")
    return Registration(stored.server, stored.registration_id, stored.token)
