"""No drawers: a name says what is inside, so that nobody has to open it."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from gates.tree import Finding, Tree

DRAWERS = frozenset(
    {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "service", "services"}
)


def check(tree: Tree) -> Iterator[Finding]:
    """Find files and folders named like a drawer."""
    for path in tree.under(""):
        for part in PurePosixPath(path).parts:
            words = part.removeprefix("test_").split(".")[0].lower()
            if words in DRAWERS or words.rpartition("_")[2] in DRAWERS:
                yield Finding(path, 1, "names", f"`{part}` is a drawer; name it after what it holds")
                break
