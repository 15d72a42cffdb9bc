"""Which test comes through which block of which function, and how long it takes; recorded once per test file.

Each block is given a sequence of its own and advances it first of all. A sequence forgets nothing when its
transaction is rolled back and everyone sees it at once, which statistics do not promise.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from boardreadyops.config import Secret
from boardreadyops.db.cluster import with_database
from boardreadyops.db.pool import connect
from tools.mutate.blocks import blocks
from tools.mutate.tokens import Function

_SUITE = ("tests/sql", "tests/races")
_LEFT_OUT = frozenset({"test_plans.py"})  # millions of rows for how a statement runs, not for what it answers
_OF_GUARDS = ("guards", "clocks", "neighbours", "held_rows", "overtaken_calls", "lease_drift")
_SUPPORT = ("tests/conftest.py", "tests/model/*.py")


@dataclass(slots=True)
class Coverage:
    """By test: the blocks it enters and its seconds; `files` remembers what each file was when it was recorded."""

    files: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Coverage:
        """What was recorded before, or nothing."""
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def save(self, path: Path) -> None:
        """Keep it for the next time."""
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True))

    def forget(self, file: str) -> None:
        """Drop what is known of one test file."""
        self.files.pop(file, None)
        for known in (self.blocks, self.seconds):
            for test in [test for test in known if test.startswith(f"{file}::")]:
                del known[test]
        self.failed = [test for test in self.failed if not test.startswith(f"{file}::")]

    def of(self, block: str, callers: Iterable[str] = ()) -> list[str]:
        """The tests that enter a block, the likeliest and quickest first: the function's own, its callers', the others."""
        own = f"/test_{block.partition(':')[0]}.py::"
        near = [f"/test_{name}.py::" for name in (*callers, *_OF_GUARDS)]

        def order(test: str) -> tuple[bool, bool, float, str]:
            return own not in test, not any(file in test for file in near), self.seconds.get(test, 0.0), test

        return sorted((test for test, entered in self.blocks.items() if block in entered), key=order)


def test_files(root: Path) -> dict[str, str]:
    """Every test file of the suite with the hash of it and of all that it leans on."""
    support = [path for pattern in _SUPPORT for path in sorted(root.glob(pattern))]
    found = {}
    for folder in _SUITE:
        files = sorted((root / folder).glob("*.py"))
        leans_on = [*support, *(path for path in files if not path.name.startswith("test_"))]
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in leans_on))
        for path in files:
            if path.name.startswith("test_") and path.name not in _LEFT_OUT:
                own = digest.copy()
                own.update(path.read_bytes())
                found[path.relative_to(root).as_posix()] = own.hexdigest()
    return found


def tracing_sql(functions: list[Function]) -> str:
    """SQL that makes every block of every function leave its mark."""
    parts = ["CREATE SCHEMA mutate;", "GRANT USAGE ON SCHEMA mutate TO PUBLIC;"]
    for function in functions:
        does = "SELECT" if function.language == "sql" else "ASSERT 0 <"  # an ASSERT leaves FOUND alone
        traced = function.source
        for block in sorted(blocks(function)[0], key=lambda block: block.begins, reverse=True):
            mark = f"\n{does} nextval('mutate.\"{block.name}\"');\n"
            traced = traced[: block.begins] + mark.encode() + traced[block.begins :]
            parts.append(f'CREATE SEQUENCE mutate."{block.name}";')
        parts.append(traced.decode())
    parts.append("GRANT ALL ON ALL SEQUENCES IN SCHEMA mutate TO PUBLIC;")
    return "\n".join(parts)


class Recorder:
    """A pytest plugin: after each test it reads the marks in every database of this process."""

    def __init__(self, server: Secret) -> None:
        self.server = server
        self.coverage = Coverage()
        self._marks: dict[tuple[str, str], int] = {}
        self._seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Before the fixtures take the databases away; in a thread, since the test's event loop is no business of ours."""
        with ThreadPoolExecutor(1) as pool:
            called = pool.submit(lambda: asyncio.run(self._read())).result()
        self.coverage.blocks[item.nodeid] = sorted(called)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Seconds of setup, call and teardown together."""
        self._seconds[report.nodeid] += report.duration
        self.coverage.seconds[report.nodeid] = round(self._seconds[report.nodeid], 3)
        if report.failed and report.nodeid not in self.coverage.failed:
            self.coverage.failed.append(report.nodeid)

    async def _read(self) -> set[str]:
        called = set()
        server = await connect(self.server, application_name="mutate")
        databases = await server.fetch(
            r"SELECT datname FROM pg_database WHERE datname LIKE '%\_' || $1 || '%' AND datname NOT LIKE 'template%'",
            str(os.getpid()),
        )
        await server.close()
        for row in databases:
            name = row["datname"]
            connection = await connect(with_database(self.server, name), application_name="mutate")
            marks = await connection.fetch(
                "SELECT sequencename, last_value FROM pg_sequences"
                " WHERE schemaname = 'mutate' AND last_value IS NOT NULL"
            )
            await connection.close()
            for block, value in marks:
                if self._marks.get((name, block)) != value:
                    self._marks[name, block] = value
                    called.add(block)
        return called
