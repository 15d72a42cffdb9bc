"""The core is pure: no clock, no I/O, time is passed in. So it can be tested by calling it."""

import ast
import sys
from collections.abc import Iterator

from gates.tree import Finding, Tree, dotted

DOMAIN = "boardreadyops/domain/"
WITHOUT_CLOCK = (
    DOMAIN,
    "boardreadyops/github/webhooks.py",
    "boardreadyops/github/requests.py",
    "boardreadyops/github/auth.py",
    "boardreadyops/github/oidc.py",
)
CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "now", "utcnow", "today")
CLOCK_OWNERS = ("time", "datetime", "date", "datetime.datetime", "datetime.date")
IMPURE = frozenset(
    {
        "asyncio", "ftplib", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets",
        "select", "selectors", "shutil", "signal", "smtplib", "socket", "socketserver", "sqlite3", "ssl", "subprocess",
        "tempfile", "threading", "time", "urllib",
    }
)  # fmt: skip


def check(tree: Tree) -> Iterator[Finding]:
    """Find clocks in the core, and anything in domain/ but pure parts of the standard library."""
    for path, node in tree.walk(*WITHOUT_CLOCK):
        if isinstance(node, ast.Call) and _reads_clock(node):
            yield Finding(path, node.lineno, "pure", "reads a clock; take the time as a parameter")
        for name in _imported(node):
            if name.startswith("time."):
                yield Finding(
                    path, getattr(node, "lineno", 1), "pure", "imports a clock; take the time as a parameter"
                )
            elif path.startswith(DOMAIN) and not _allowed(name):
                says = f"`{name}` in domain/; only pure parts of the standard library belong here"
                yield Finding(path, getattr(node, "lineno", 1), "pure", says)


def _reads_clock(call: ast.Call) -> bool:
    owner, _, name = dotted(call.func).rpartition(".")
    return owner in CLOCK_OWNERS and name in CLOCKS


def _imported(node: ast.AST) -> list[str]:
    """Return what an import statement names, as `module` or `time.name`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.module == "time":
            return [f"time.{alias.name}" for alias in node.names]
        return [node.module or ""] if node.level == 0 else []
    return []


def _allowed(name: str) -> bool:
    if name.startswith("boardreadyops.domain") or name == "urllib.parse":
        return True
    first = name.partition(".")[0]
    return first in sys.stdlib_module_names and first not in IMPURE
