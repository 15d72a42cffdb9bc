"""What a text of SQL touches: whatever its quoting, case, comments, common table expressions and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from boardreadyops.db.gate.bodies import pieces
from boardreadyops.db.gate.grammar import Node, Statement, inner, kind, statements, strings, walk

ROW_VERBS = {
    "InsertStmt": "INSERT",
    "UpdateStmt": "UPDATE",
    "DeleteStmt": "DELETE",
    "MergeStmt": "MERGE",
    "CopyStmt": "COPY FROM",
    "TruncateStmt": "TRUNCATE",
}
_SETTINGS_OF_POWER = frozenset({"role", "session_authorization", "session_replication_role"})
_RANGES = ("relation", "relations", "rel", "table", "view")


@dataclass(frozen=True, slots=True)
class Touch:
    """One thing a statement does: the verb, the table, function or setting it does it to, the line."""

    verb: str
    name: str
    line: int

    @property
    def changes_rows(self) -> bool:
        """Whether rows change, rather than what holds them."""
        return self.verb in ROW_VERBS.values()


def touches(text: str) -> Iterator[Touch]:
    """Everything but plain reading, in the bodies of functions and DO blocks too; SqlUnreadable."""
    for statement in statements(text):
        yield from touched_by(statement)


def touched_by(statement: Statement) -> Iterator[Touch]:
    """The same for one statement of a text; SqlUnreadable."""
    for node in walk(statement.node):
        for verb, name in _touch(node):
            yield Touch(verb, name, statement.line)
    if statement.kind not in {"CreateFunctionStmt", "DoStmt"}:
        return
    for piece in pieces(statement):
        if piece.word:
            yield Touch(piece.word, "", piece.line)
        else:
            yield from (Touch(found.verb, found.name, piece.line) for found in touches(piece.sql))


def _touch(node: Node) -> Iterator[tuple[str, str]]:
    match kind(node):
        case "SelectStmt":
            if node.locking_clause:
                yield from (("LOCK", found.relname) for found in walk(node) if kind(found) == "RangeVar")
        case "IntoClause":
            yield "INTO", node.rel.relname
        case "CopyStmt":
            if node.is_from:
                yield "COPY FROM", node.relation.relname
            if node.is_program:
                yield "dynamic", "COPY PROGRAM"
        case "DropStmt" | "GrantStmt":
            verb = kind(node).removesuffix("Stmt").upper()
            yield from ((verb, name) for name in _named(node.objects))
        case "ExecuteStmt" | "PrepareStmt":
            yield "dynamic", kind(node).removesuffix("Stmt").upper()
        case "FuncCall":
            yield from _call(node)
        case "VariableSetStmt":
            if node.name in _SETTINGS_OF_POWER:
                yield "power", node.name
        case name if name.endswith("Stmt"):
            verb = ROW_VERBS.get(name, name.removesuffix("Stmt"))
            yield from ((verb, range_var.relname) for range_var in _ranges(node))
        case _:
            pass


def _ranges(node: Node) -> Iterator[Node]:
    for field, value in node.ListFields():
        if field.name in _RANGES:
            children: Any = [value] if hasattr(value, "ListFields") else value
            yield from (child for child in map(inner, children) if kind(child) == "RangeVar")


def _named(objects: Any) -> Iterator[str]:
    for found in map(inner, objects):
        match kind(found):
            case "RangeVar":
                yield found.relname
            case "List":
                yield from strings(found.items)
            case "ObjectWithArgs":
                yield from strings(found.objname)
            case "String":
                yield found.sval
            case _:
                pass


def _call(node: Node) -> Iterator[tuple[str, str]]:
    name = strings(node.funcname)[-1]
    yield "call", name
    if name != "set_config" or not node.args:
        return
    setting = inner(node.args[0])
    known = setting.sval.sval.lower() if kind(setting) == "A_Const" and setting.HasField("sval") else None
    if known is None or known in _SETTINGS_OF_POWER:
        yield "power", known or "a setting named at run time"
