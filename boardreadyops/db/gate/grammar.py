"""PostgreSQL's own grammar: text into statements, and statements into the nodes they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import postgast

Node: TypeAlias = Any  # a protobuf message; its type is its kind
_LEADING = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_PLACE = re.compile(r"\b(?:location|stmt_location|stmt_len): -?\d+\s*")


class SqlUnreadable(ValueError):
    """PostgreSQL would refuse this text too."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its node, its own text, and where it begins, counted in lines and bytes."""

    node: Node
    text: str
    line: int
    begins_at_byte: int
    ends_at_byte: int

    @property
    def kind(self) -> str:
        """The node's type: `UpdateStmt`."""
        return kind(self.node)


def statements(text: str) -> list[Statement]:
    """The statements of a text; SqlUnreadable."""
    try:
        parsed = postgast.parse(text)
    except (postgast.PgQueryError, UnicodeError) as error:
        raise SqlUnreadable(str(error)) from None
    source = text.encode()
    found = []
    for raw in parsed.stmts:
        ends = raw.stmt_location + raw.stmt_len if raw.stmt_len else len(source)
        own = source[raw.stmt_location : ends].decode()
        leading = _LEADING.match(own)
        own = own[leading.end() if leading else 0 :]
        begins = ends - len(own.encode())
        line = source.count(b"\n", 0, begins) + 1
        found.append(Statement(inner(raw.stmt), own, line, begins, ends))
    return found


def kind(node: Node) -> str:
    """The type of a node."""
    return str(type(node).__name__)


def inner(node: Node) -> Node:
    """A node without the wrapper that the grammar puts around every child."""
    return postgast.unwrap_node(node)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything in it."""
    return (found for _, found in postgast.walk(node))


def strings(nodes: Any) -> list[str]:
    """The texts of a list of string nodes: the parts of a qualified name, say."""
    return [inner(node).sval for node in nodes if kind(inner(node)) == "String"]


def plain(node: Node) -> str:
    """A node as text that is the same wherever it stood and whoever spelled it."""
    return " ".join(_PLACE.sub("", str(node)).split())


def line_in(text: str, byte: int) -> int:
    """The line of a byte offset, from 1."""
    return text.encode()[: max(byte, 0)].count(b"\n") + 1
