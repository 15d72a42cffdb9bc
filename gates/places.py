"""No file knows the machine it was written on, nor the mirror its packages came from."""

import re
from collections.abc import Iterator

from gates.tree import Finding, Tree

REGISTRY = re.compile(
    r"://[a-z0-9.-]*(?:npm|pypi|pythonhosted|debian|ubuntu|crates|docker|golang)[a-z0-9-]*\.[a-z]"
)
MACHINE = re.compile(r"(?<![\w.$}/-])/(?:work|root|Users/\w+|home/\w+)/")


def check(tree: Tree) -> Iterator[Finding]:
    """Find package registries by host name, and absolute paths of somebody's machine."""
    for path in tree.texts():
        if path.startswith("tests/gates/"):
            continue
        for number, line in tree.lines(path):
            if found := REGISTRY.search(line):
                yield Finding(
                    path,
                    number,
                    "places",
                    f"names a registry, {found[0]}…; the machine knows where it gets packages",
                )
            if found := MACHINE.search(line):
                yield Finding(
                    path, number, "places", f"{found[0]} is a place on one machine; derive it or take it in"
                )
