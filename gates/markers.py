"""What is left to do is an issue; in the text it is a promise that nobody reads."""

import re
from collections.abc import Iterator

from gates.tree import Finding, Tree, is_generated

MARKER = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b")


def check(tree: Tree) -> Iterator[Finding]:
    """Find markers of unfinished work."""
    for path in tree.texts():
        if path.startswith("tests/gates/") or is_generated(path):
            continue
        for number, line in tree.lines(path):
            if found := MARKER.search(line):
                yield Finding(path, number, "markers", f"{found[0]} left behind; finish it or file an issue")
