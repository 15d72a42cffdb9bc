"""One place reads the environment, so that one place knows every setting, its unit and its default."""

import ast
from collections.abc import Iterator

from gates.tree import Finding, Tree, dotted

READER = "boardreadyops/config.py"
NAMES = frozenset({"environ", "environb", "getenv", "getenvb", "putenv"})


def check(tree: Tree) -> Iterator[Finding]:
    """Find readers of the environment besides config.py."""
    for path, node in tree.walk("boardreadyops/", "gates/"):
        if path != READER and _reads_environment(node):
            says = "reads the environment; make it a field of config.Settings and take that"
            yield Finding(path, getattr(node, "lineno", 1), "environment", says)


def _reads_environment(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return dotted(node) in {f"os.{name}" for name in NAMES}
    return (
        isinstance(node, ast.ImportFrom) and node.module == "os" and any(a.name in NAMES for a in node.names)
    )
