"""What the gate says, and the package folder that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

import boardreadyops

INSTALLED = Path(boardreadyops.__file__).resolve().parent


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One broken rule: where, which, and what to do about it."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"

    def as_json(self) -> dict[str, str | int]:
        """The same for machines."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Package:
    """The folder `boardreadyops/`, installed or in a checkout; files are named from its parent."""

    root: Path = INSTALLED

    def named(self, path: Path) -> str:
        """The path as findings tell it: `boardreadyops/…`, with forward slashes."""
        return (PurePosixPath("boardreadyops") / path.relative_to(self.root).as_posix()).as_posix()

    def sql(self, folder: str) -> Iterator[tuple[Path, str]]:
        """Every `.sql` file of `sql/<folder>` with its text, byte for byte, by name."""
        for path in sorted((self.root / "sql" / folder).glob("*.sql")):
            yield path, path.read_bytes().decode()

    def other_sql(self) -> Iterator[tuple[Path, str]]:
        """Every other `.sql` file that we wrote by hand: scripts for measurements, say."""
        known = [self.root / "sql" / folder for folder in ("functions", "migrations", "queries")]
        for path in sorted(self.root.rglob("*.sql")):
            generated = path == self.root / "sql" / "schema.sql"
            if path.parent not in known and not generated and {"vendor", "vendored"}.isdisjoint(path.parts):
                yield path, path.read_bytes().decode()

    def python(self) -> Iterator[tuple[Path, str]]:
        """Every module that we wrote, by path."""
        for path in sorted(self.root.rglob("*.py")):
            if {"vendor", "vendored", "__pycache__"}.isdisjoint(path.parts):
                yield path, path.read_text(encoding="utf-8")
