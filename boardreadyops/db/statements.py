"""Named SQL statements: one file each in `sql/queries/`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class UnknownStatement(LookupError):
    """No file of that name in `sql/queries/`; a mistake in the program, not of its user."""


@cache
def statement(name: LiteralString) -> LiteralString:
    """The text of `sql/queries/<name>.sql`, read once: part of the program, so as good as a literal."""
    if not _NAME.fullmatch(name):
        raise UnknownStatement(f"{name!r} is no statement name: lower case, digits and underscores only")
    try:
        text = files("boardreadyops").joinpath("sql", "queries", f"{name}.sql").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnknownStatement(f"boardreadyops/sql/queries/{name}.sql does not exist") from None
    return text
