"""Tests wait for what they want to see, never for time to pass: a sleep is slow on good days and wrong on bad ones."""

import ast
import re
from collections.abc import Iterator

from gates.tree import Finding, Tree, dotted

SLEEPS = frozenset({"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"})
WAITS = frozenset({"wait_for_timeout"})  # Playwright's name for a sleep
IN_SQL = re.compile(r"\bpg_sleep", re.IGNORECASE)
SAYS = "a sleep in a test; wait for an event, a line of output or a row, with a timeout around it"


def check(tree: Tree) -> Iterator[Finding]:
    """Find sleeps in tests, in Python and in SQL."""
    for path, node in tree.walk("tests/"):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            if name in SLEEPS or name.rpartition(".")[2] in WAITS:
                yield Finding(path, node.lineno, "sleeps", SAYS)
    for path in tree.under("tests/"):
        if path.endswith((".py", ".sql")) and not path.startswith("tests/gates/"):
            for number, line in tree.lines(path):
                if IN_SQL.search(line):
                    yield Finding(path, number, "sleeps", SAYS)
