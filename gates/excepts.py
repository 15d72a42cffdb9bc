"""Nobody swallows what they did not expect: a handler for everything raises again."""

import ast
from collections.abc import Iterator

from gates.tree import Finding, Tree, dotted

EVERYTHING = frozenset({"Exception", "BaseException"})


def check(tree: Tree) -> Iterator[Finding]:
    """Find handlers that catch everything and keep it."""
    for path, node in tree.walk("boardreadyops/", "gates/", "tests/"):
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node.type) and not _raises(node):
            yield Finding(
                path, node.lineno, "excepts", "catches everything; name what you expect, or raise again"
            )
        if isinstance(node, ast.Call) and dotted(node.func) in {"suppress", "contextlib.suppress"}:
            yield from (
                Finding(path, node.lineno, "excepts", "suppresses everything; name what you expect")
                for argument in node.args
                if _catches_everything(argument)
            )


def _catches_everything(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_catches_everything(one) for one in caught.elts)
    return caught is None or dotted(caught).rpartition(".")[2] in EVERYTHING


def _raises(handler: ast.ExceptHandler) -> bool:
    """Tell whether the handler's own last word is a raise; a return before it would still be an answer."""
    return isinstance(handler.body[-1], ast.Raise)
