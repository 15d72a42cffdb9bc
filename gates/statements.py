"""SQL lives in .sql files, where it can be read, planned and checked; Python knows statements by name."""

import ast
import re
from collections.abc import Iterator

from gates.tree import Finding, Tree, dotted

# Roles, databases and migrations cannot be parameters: the three that write them may spell them out.
MAY_WRITE_SQL = frozenset({f"boardreadyops/db/{name}.py" for name in ("roles", "migrate", "embedded")})
RUNS_SQL = frozenset(
    {"execute", "executemany", "fetch", "fetchrow", "fetchval", "fetchmany", "cursor", "prepare"}
)

_OBJECT = (
    r"(?:OR\s+REPLACE\s+)?(?:TEMP\w*\s+|UNIQUE\s+|MATERIALIZED\s+)?(?:DATABASE|ROLE|USER|SCHEMA|TABLE|INDEX|VIEW"
    r"|FUNCTION|PROCEDURE|TRIGGER|TYPE|SEQUENCE|POLICY|EXTENSION|DEFAULT\s+PRIVILEGES)"
)
SQL = re.compile(
    r"^\s*SELECT\s|\bSELECT\b[\s\S]+\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\s[\s\S]+?\sSET\b|\bDELETE\s+FROM\b"
    rf"|\b(?:CREATE|ALTER|DROP)\s+{_OBJECT}\b|\b(?:GRANT|REVOKE)\s[\s\S]+\s(?:TO|FROM|ON)\b"
    r"|^\s*TRUNCATE\s|^\s*COPY\s[\s\S]+\s(?:FROM|TO)\b|\bMERGE\s+INTO\b|^\s*WITH\s+\w+\s+AS\s*\("
    r"|^\s*(?:SET\s+(?:LOCAL|ROLE|SESSION)|LISTEN|NOTIFY|LOCK\s+TABLE|VACUUM|ANALYZE|CALL|EXECUTE)\s"
)
# In lower case these are English too, so there they count at the beginning only, and with their second word.
LOWER = re.compile(
    r"^\s*(?:select\s[\s\S]+\sfrom\s|select\s+\w+\(|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|merge\s+into\s"
    rf"|(?:create|alter|drop)\s+{_OBJECT.lower()}\s|truncate\s+table\s)"
)


def check(tree: Tree) -> Iterator[Finding]:
    """Find SQL text in product code, and statements put together while the program runs."""
    for path in tree.under("boardreadyops/", suffix=".py"):
        prose = _docstrings(tree.module(path))
        inside: set[int] = set()
        for node in ast.walk(tree.module(path)):
            if isinstance(node, ast.Call):
                yield from _assembled(path, node)
            if not isinstance(node, ast.expr) or id(node) in inside or path in MAY_WRITE_SQL:
                continue
            text = _text(node)
            inside.update(id(part) for part in ast.walk(node) if text is not None)
            if text and id(node) not in prose and (SQL.search(text) or LOWER.search(text)):
                says = "SQL in Python; put it into sql/queries/<name>.sql and call statement(<name>)"
                yield Finding(path, node.lineno, "statements", says)


def _docstrings(module: ast.Module) -> set[int]:
    """Strings that are statements by themselves are prose."""
    return {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}


def _text(node: ast.expr) -> str | None:
    """Return the text a string expression would have, with ? for what only runs."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "?" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = (_text(node.left), _text(node.right))
        return None if parts == (None, None) else "".join(part or "?" for part in parts)
    return None


def _assembled(path: str, call: ast.Call) -> Iterator[Finding]:
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_SQL and call.args):
        return
    first = call.args[0]
    built = isinstance(first, ast.JoinedStr | ast.BinOp)
    built |= isinstance(first, ast.Call) and dotted(first.func).endswith((".format", ".join", ".replace"))
    built |= (
        isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute) and first.func.attr == "format"
    )
    if built:
        says = f"{call.func.attr}() of a text put together at run time; pass values as $1, $2, …"
        yield Finding(path, call.lineno, "statements", says)
