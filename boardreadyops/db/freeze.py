"""Put the function files into the migrations that own them, and lock what may never change again.

`python -m boardreadyops.db.freeze` fills the fences `--! begin functions/x.sql` … `--! end` and writes
`sql/migrations.lock`; `--check` changes nothing and exits 1 naming what differs. The line `# open from 0022` in the
lock says from which version on migrations may still be rewritten; below it, and without it, they are history.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from boardreadyops.db.migrations import MigrationRefused, load_migrations

OWN_SQL = Path(__file__).resolve().parent.parent / "sql"
LOCK_NAME = "migrations.lock"
_OPEN = re.compile(r"# open from ([0-9]{4})")
_LOCKED = re.compile(r"([0-9]{4}_[a-z0-9_]+\.sql) ([0-9a-f]{64})")
_FENCE = re.compile(
    r"^--! begin functions/(?P<name>[a-z0-9_]+)\.sql\n(?P<body>(?:(?!--! ).*\n)*?)--! end$", re.MULTILINE
)
_MARK = re.compile(r"^--!.*$", re.MULTILINE)


@dataclass(slots=True)
class Frozen:
    """What the files should be, and what no rewriting can cure."""

    texts: dict[Path, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def differing(self) -> list[Path]:
        """The files that are not yet as they should be."""
        return [
            path
            for path, text in self.texts.items()
            if not path.exists() or path.read_text(encoding="utf-8") != text
        ]


@dataclass(frozen=True, slots=True)
class _Lock:
    open_from: int | None
    hashes: dict[str, str]

    def is_history(self, file_name: str) -> bool:
        return file_name in self.hashes and (self.open_from is None or int(file_name[:4]) < self.open_from)


def freeze(sql: Path) -> Frozen:
    """Work out the contents of all migrations and of the lock; writes nothing."""
    frozen = Frozen()
    functions = {path.stem: path.read_text(encoding="utf-8") for path in (sql / "functions").glob("*.sql")}
    lock = _read_lock(sql / LOCK_NAME, frozen.problems)
    try:
        migrations = load_migrations(sql / "migrations")
    except MigrationRefused as error:
        frozen.problems.append(str(error))
        return frozen
    last_fence = {
        name: migration.version for migration in migrations for name in _fence_names(migration.text)
    }
    new_hashes: dict[str, str] = {}
    for migration in migrations:
        file_name = f"{migration.name}.sql"
        text = migration.text
        owned = {name: body for name, body in functions.items() if last_fence.get(name) == migration.version}
        frozen.problems += _fence_problems(file_name, text)
        if lock.is_history(file_name):
            if lock.hashes[file_name] != migration.sha256:
                frozen.problems.append(
                    f"{file_name} is history and was changed: put it back, write a new migration"
                )
            frozen.problems += [
                f"functions/{name}.sql differs from its fence in {file_name}, which is history:"
                " add a fence for it to the next migration"
                for name, body in _fences(text)
                if name in owned and body != owned[name]
            ]
        else:
            missing = [name for name in _fence_names(text) if name not in functions]
            frozen.problems += [
                f"{file_name} has a fence for functions/{name}.sql, which is missing" for name in missing
            ]
            text = _fill(text, owned)
            frozen.texts[sql / "migrations" / file_name] = text
        new_hashes[file_name] = hashlib.sha256(text.encode()).hexdigest()
    frozen.problems += [
        f"functions/{name}.sql is in no migration's fence"
        for name in sorted(functions.keys() - last_fence.keys())
    ]
    frozen.problems += [
        f"{name} is locked but missing: put it back"
        for name in sorted(lock.hashes.keys() - new_hashes.keys())
    ]
    frozen.texts[sql / LOCK_NAME] = _lock_text(lock, new_hashes)
    return frozen


def main(arguments: list[str] | None = None) -> int:
    """Freeze, or with `--check` compare; 1 when something differs or cannot be frozen."""
    parser = argparse.ArgumentParser(prog="python -m boardreadyops.db.freeze", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something differs")
    parser.add_argument("--sql", type=Path, default=OWN_SQL, help="the folder of functions/ and migrations/")
    chosen = parser.parse_args(arguments)
    frozen = freeze(chosen.sql)
    differing = frozen.differing()
    for problem in frozen.problems:
        print(f"freeze: {problem}", file=sys.stderr)
    if chosen.check:
        for path in differing:
            print(f"freeze: {path.relative_to(chosen.sql)} is not frozen: run `make freeze`", file=sys.stderr)
        return 1 if frozen.problems or differing else 0
    if frozen.problems:
        return 1
    for path in differing:
        path.write_text(frozen.texts[path], encoding="utf-8")
        print(f"froze {path.relative_to(chosen.sql)}")
    return 0


def _read_lock(path: Path, problems: list[str]) -> _Lock:
    if not path.exists():
        return _Lock(0, {})
    open_from = None
    hashes: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if opened := _OPEN.fullmatch(line):
            open_from = int(opened[1])
        elif locked := _LOCKED.fullmatch(line):
            hashes[locked[1]] = locked[2]
        elif line and not line.startswith("#"):
            problems.append(f"{path.name} has a line that is no lock: {line[:80]!r}")
    return _Lock(open_from, hashes)


def _lock_text(lock: _Lock, hashes: dict[str, str]) -> str:
    lines = [
        "# Written by `make freeze`. A locked migration never changes; the database refuses another hash."
    ]
    if lock.open_from is not None:
        opened = lock.open_from or min(int(name[:4]) for name in hashes)
        lines.append(f"# open from {opened:04d}")
    return "\n".join([*lines, *(f"{name} {digest}" for name, digest in hashes.items())]) + "\n"


def _fences(text: str) -> Iterator[tuple[str, str]]:
    for fence in _FENCE.finditer(text):
        yield fence["name"], fence["body"]


def _fence_names(text: str) -> list[str]:
    return [name for name, _ in _fences(text)]


def _fence_problems(file_name: str, text: str) -> list[str]:
    """Marks that belong to no complete fence, and fences of one name within one migration."""
    names = _fence_names(text)
    loose = _MARK.findall(_FENCE.sub("", text))
    problems = [f"{file_name} has a mark outside a complete fence: {mark[:80]}" for mark in loose]
    twice = sorted({name for name in names if names.count(name) > 1})
    return problems + [f"{file_name} has two fences for functions/{name}.sql" for name in twice]


def _fill(text: str, functions: dict[str, str]) -> str:
    def filled(fence: re.Match[str]) -> str:
        body = functions.get(fence["name"], fence["body"])
        body = body if not body or body.endswith("\n") else body + "\n"
        return f"--! begin functions/{fence['name']}.sql\n{body}--! end"

    return _FENCE.sub(filled, text)


if __name__ == "__main__":
    sys.exit(main())
