"""The migration files as the program carries them: numbered without gaps, each with its SHA-256."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise

_FILE_NAME = re.compile(r"([0-9]{4})_([a-z0-9_]+)\.sql")


class MigrationRefused(RuntimeError):
    """The database cannot be migrated by this program. The text is one line and says what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration file; `sha256` is that of its bytes, in hex."""

    version: int
    name: str
    text: str
    sha256: str


def load_migrations(folder: Traversable) -> tuple[Migration, ...]:
    """All migrations of this folder, oldest first; MigrationRefused when a number is missing or taken twice."""
    migrations = []
    for file in folder.iterdir():
        matched = _FILE_NAME.fullmatch(file.name)
        if matched:
            content = file.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            migrations.append(
                Migration(int(matched[1]), file.name.removesuffix(".sql"), content.decode(), digest)
            )
        elif file.name.endswith(".sql"):
            raise MigrationRefused(f"migration file {file.name} must be named like 0030_what_it_does.sql")
    migrations.sort(key=lambda migration: migration.version)
    if not migrations:
        raise MigrationRefused(f"there are no migrations in {folder}: the installation is incomplete")
    for earlier, later in pairwise(migrations):
        if later.version != earlier.version + 1:
            raise MigrationRefused(
                f"migration {later.name} must not follow {earlier.name}: numbers go up by one"
            )
    return tuple(migrations)


@cache
def own_migrations() -> tuple[Migration, ...]:
    """The migrations of this program, read once."""
    return load_migrations(files("boardreadyops").joinpath("sql", "migrations"))
