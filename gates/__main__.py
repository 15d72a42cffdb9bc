"""Run every gate over the tracked files; exit 1 with one line per finding."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from gates import (
    environment,
    excepts,
    limits,
    markers,
    names,
    places,
    pure,
    sizes,
    sleeps,
    sql_functions,
)
from gates.tree import Finding, Tree, tracked

GATES: Final[tuple[Callable[[Tree], Iterator[Finding]], ...]] = (
    environment.check,
    excepts.check,
    limits.check,
    markers.check,
    names.check,
    places.check,
    pure.check,
    sizes.check,
    sleeps.check,
    sql_functions.check,
)


def main() -> int:
    """Print what was found, in the order of files."""
    tree = tracked(Path.cwd())
    findings = sorted({finding for gate in GATES for finding in gate(tree)})
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
