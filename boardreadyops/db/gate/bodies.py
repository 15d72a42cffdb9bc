"""What is inside a function or a DO block: its statements, in PL/pgSQL's own grammar."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import postgast

from boardreadyops.db.gate.grammar import Node, SqlUnreadable, Statement, inner, kind, line_in, strings

# libpg_query writes one brace too many for each variable that only a trigger has (TG_OP and its like).
_TRIGGER_VARIABLE = re.compile(r"(?<=[\[,])\{\}\}(?=[,\]])")
_ASSIGNED = re.compile(r"\A.*?:?=", re.DOTALL)
_WHOLE, _EXPRESSION = 0, 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement or expression of a body, or a word for what no grammar can read: `dynamic`, `others`."""

    sql: str
    line: int
    word: str = ""


def pieces(statement: Statement) -> Iterator[Piece]:
    """All of a CREATE FUNCTION's or DO's body; SqlUnreadable. Lines are those of the text around the statement."""
    options = {option.defname: option for option in map(inner, _options(statement.node))}
    language = inner(options["language"].arg).sval.lower() if "language" in options else None
    if statement.kind == "DoStmt":
        language = language or "plpgsql"
    if kind(statement.node) == "CreateFunctionStmt" and statement.node.HasField("sql_body"):
        return  # BEGIN ATOMIC: its statements are nodes of the statement itself
    if "as" not in options:
        raise SqlUnreadable("no body")
    # Offsets count from the beginning of the whole text; the statement's own text begins later.
    body_line = (
        statement.line + line_in(statement.text, options["as"].location - statement.begins_at_byte) - 1
    )
    if language == "sql":
        yield Piece(body(statement.node), body_line)
    elif language == "plpgsql":
        yield from _plpgsql(statement.text, body_line)
    else:
        yield Piece("", statement.line, word="language")


def body(node: Node) -> str:
    """The text between the dollars."""
    for option in map(inner, _options(node)):
        if option.defname == "as":
            arg = inner(option.arg)
            return str(arg.sval) if kind(arg) == "String" else "\n".join(strings(arg.items))
    return ""


def _options(node: Node) -> Any:
    return node.args if kind(node) == "DoStmt" else node.options


def _plpgsql(text: str, body_line: int) -> Iterator[Piece]:
    try:
        parsed = postgast.parse_plpgsql(text)
    except json.JSONDecodeError as broken:
        parsed = json.loads(_TRIGGER_VARIABLE.sub("{}", broken.doc))
    except postgast.PgQueryError as error:
        raise SqlUnreadable(str(error)) from None
    yield from _inside(parsed, body_line, 1)


def _inside(node: Any, body_line: int, line: int) -> Iterator[Piece]:
    if isinstance(node, list):
        for item in node:
            yield from _inside(item, body_line, line)
    if not isinstance(node, dict):
        return
    line = node.get("lineno", line)
    for key, value in node.items():
        here = value.get("lineno", line) if isinstance(value, dict) else line
        if key.startswith("PLpgSQL_stmt_dyn") or key == "dynquery":
            yield Piece("", body_line + here - 1, word="dynamic")
        elif key == "PLpgSQL_condition" and str(value.get("condname", "")).lower() == "others":
            yield Piece("", body_line + here - 1, word="others")
        if key == "PLpgSQL_expr":
            yield Piece(_statement(value["query"], value.get("parseMode", _WHOLE)), body_line + line - 1)
        else:
            yield from _inside(value, body_line, line)


def _statement(query: str, mode: int) -> str:
    if mode == _WHOLE:
        return query
    return f"VALUES ({query if mode == _EXPRESSION else _ASSIGNED.sub('', query, count=1)})"
