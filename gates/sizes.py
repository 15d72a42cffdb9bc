"""Files and functions that fit in a head: one screen, one thought."""

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import PurePosixPath

from gates.tree import Finding, Tree, is_generated

MAX_FILE_LINES = 350
MAX_MEDIAN_LINES = 150
MAX_FUNCTION_LINES = 50
MAX_SQL_FUNCTION_LINES = 70
CODE = frozenset({".py", ".sql", ".html", ".css", ".js", ".sh"})


def check(tree: Tree) -> Iterator[Finding]:
    """Find what has grown too long."""
    yield from _files(tree)
    for path, node in tree.walk("boardreadyops/", "gates/"):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                says = f"`{node.name}` has {length} lines, the most is {MAX_FUNCTION_LINES}; name its parts"
                yield Finding(path, node.lineno, "sizes", says)
    for path in tree.under("boardreadyops/sql/functions/", suffix=".sql"):
        body = re.search(r"^CREATE\b[\s\S]*", tree.text(path).rstrip(), re.IGNORECASE | re.MULTILINE)
        length = len(body[0].splitlines()) if body else 0
        if length > MAX_SQL_FUNCTION_LINES:
            says = f"the function has {length} lines, the most is {MAX_SQL_FUNCTION_LINES}; give a step its own file"
            yield Finding(path, 1, "sizes", says)


def _files(tree: Tree) -> Iterator[Finding]:
    product = []
    for path in tree.under("boardreadyops/", "gates/", "tests/", ".ci/"):
        if PurePosixPath(path).suffix not in CODE or is_generated(path):
            continue
        length = len(tree.text(path).splitlines())
        if length > MAX_FILE_LINES:
            yield Finding(path, 1, "sizes", f"{length} lines, the most is {MAX_FILE_LINES}; split it by idea")
        if path.startswith("boardreadyops/") and path.endswith(".py") and length:
            product.append(length)
    if product and (median := statistics.median(product)) > MAX_MEDIAN_LINES:
        says = f"the median file has {median:.0f} lines, the most is {MAX_MEDIAN_LINES}; split the long ones"
        yield Finding("boardreadyops", 1, "sizes", says)
