"""Every mutant of a function: one edit, its stable name, its whole text and what changed."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import postgast

from tools.mutate.blocks import blocks
from tools.mutate.operators import Edit, edits
from tools.mutate.tokens import Function, read_function

_KEPT = re.compile(r"\0(\d+),(\d+)\0")
# libpg_query writes one brace too many for each variable that only a trigger has.
_TRIGGER_VARIABLE = re.compile(r"(?<=[\[,])\{\}\}(?=[,\]])")


class NotSql(Exception):
    """A mutant that does not parse is a mistake of an operator, never a kill."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`id` is function:kind:line:n, n counting from 1 the same kind on the same line; `block` is where it stands."""

    id: str
    function: str
    block: str
    kind: str
    sql: str
    diff: str

    @property
    def sha(self) -> str:
        """SHA-256 of the whole text."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All mutants of one function file in the order of their lines, no text twice; NotSql."""
    function = read_function(path)
    numbers: Counter[tuple[str, int]] = Counter()
    seen = {function.source}
    places, stands_in = blocks(function)
    for edit in sorted(edits(function), key=lambda edit: (edit.first, edit.last, edit.kind)):
        mutated = _apply(function, edit)
        if mutated in seen:
            continue
        seen.add(mutated)
        line = function.line(function.tokens[edit.first].start)
        numbers[edit.kind, line] += 1
        name = f"{function.name}:{edit.kind}:{line}:{numbers[edit.kind, line]}"
        _must_parse(name, mutated.decode(), function.language)
        diff = difflib.unified_diff(
            function.source.decode().splitlines(), mutated.decode().splitlines(), lineterm="", n=0
        )
        block = places[stands_in[edit.first]].name
        yield Mutant(name, function.name, block, edit.kind, mutated.decode(), "\n".join(list(diff)[3:]))


def _apply(function: Function, edit: Edit) -> bytes:
    text = _KEPT.sub(lambda kept: function.text(int(kept[1]), int(kept[2])), edit.text)
    start, end = function.tokens[edit.first].start, function.tokens[edit.last].end
    return function.source[:start] + text.encode() + function.source[end:]


def _must_parse(name: str, sql: str, language: str) -> None:
    try:
        postgast.parse(sql)
        bodies = [sql.partition("AS $$\n")[2].rpartition("\n$$;")[0]] if language == "sql" else _inside(sql)
        for body in bodies:
            postgast.parse(body)
    except postgast.PgQueryError as error:
        raise NotSql(f"{name}: {error}\n{sql}") from error


def _inside(sql: str) -> Iterator[str]:
    """The statements and expressions of a PL/pgSQL body."""
    try:
        parsed = postgast.parse_plpgsql(sql)
    except json.JSONDecodeError as broken:
        parsed = json.loads(_TRIGGER_VARIABLE.sub("{}", broken.doc))
    waiting: list[object] = [parsed]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            expression = node.get("PLpgSQL_expr")
            if expression is not None:
                yield _statement(expression["query"], expression.get("parseMode", 0))
            waiting.extend(node.values())


def _statement(query: str, mode: int) -> str:
    whole, expression = 0, 2
    if mode == whole:
        return query
    return (
        f"VALUES ({query if mode == expression else re.sub(r'^.*?:?=', '', query, count=1, flags=re.DOTALL)})"
    )
