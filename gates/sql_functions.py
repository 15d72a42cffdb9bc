"""A SQL function's file says what it is for, what it answers, what it locks and writes.

What it holds and with whose rights it runs is the business of `boardreadyops verify transition-writers`.
"""

import re
from collections.abc import Iterator

from gates.tree import Finding, Tree

FOLDER = "boardreadyops/sql/functions/"
HEADER = re.compile(r"\A(?:--[^\n]*\n)+")
SECTIONS = ("Purpose", "Outcomes", "Locks", "Writes")


def check(tree: Tree) -> Iterator[Finding]:
    """Find function files whose header leaves something out."""
    for path in tree.under(FOLDER, suffix=".sql"):
        header = HEADER.match(tree.text(path))
        for section in SECTIONS:
            if not re.search(rf"\b{section}\b[^:\n]*:", header[0] if header else ""):
                says = f"the header has no `{section}:`; say it, `none` included"
                yield Finding(path, 1, "sql_functions", says)
