"""What can be taken from a function: each kind removes or weakens one guard and leaves the rest as it is.

if_false, if_true   an IF's condition; true only where the block acts instead of returning
term                one operand of AND or OR; the only predicate of a WHERE becomes true
case                one WHEN of a CASE
lock, of, skip      a row lock; its `OF x`; its SKIP LOCKED
perform             one PERFORM
when                the condition of EXIT WHEN or CONTINUE WHEN
bound               one argument of GREATEST or LEAST alone, or what left() cut
limit               a LIMIT
boundary            < and <=, > and >=, IS [NOT] DISTINCT FROM, each for the other
nulls               COALESCE(condition, true) without its default
leave               a RETURN or CONTINUE inside an IF that does more than leave
conflict            ON CONFLICT … DO NOTHING
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.mutate.terms import terms
from tools.mutate.tokens import Function, Token

_BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_ENDS_LIMIT = frozenset({"FOR", ")", ";", "LOOP", "OFFSET"})


@dataclass(frozen=True, slots=True)
class Edit:
    """Tokens `first` to `last`, both included, become `text`."""

    kind: str
    first: int
    last: int
    text: str


def edits(function: Function) -> Iterator[Edit]:
    """Every edit of every kind, in no particular order."""
    for operator in _OPERATORS:
        yield from operator(function.tokens)
    for first, last, text in terms(function.tokens):
        yield Edit("term", first, last, text)


def _find(tokens: tuple[Token, ...], start: int, *texts: str) -> int:
    """The first of these words at or behind `start`, at its depth."""
    depth = tokens[start].depth
    for index in range(start, len(tokens)):
        if tokens[index].depth <= depth and tokens[index].text in texts:
            return index
    raise ValueError(f"no {texts} behind {tokens[start]}")


def _ifs(tokens: tuple[Token, ...]) -> Iterator[tuple[int, int, int]]:
    """(IF or ELSIF, its THEN, the word that ends its block)."""
    for index, token in enumerate(tokens):
        if token.text == "ELSIF" or (token.text == "IF" and tokens[index - 1].text != "END"):
            then = _find(tokens, index, "THEN")
            yield index, then, _block_end(tokens, then + 1)


def _block_end(tokens: tuple[Token, ...], start: int) -> int:
    nested = cases = 0
    for index in range(start, len(tokens)):
        text = tokens[index].text
        if text == "CASE":
            cases += 1
        elif cases:
            cases -= text == "END"
        elif text == "IF" and tokens[index - 1].text != "END":
            nested += 1
        elif text in {"ELSE", "ELSIF", "END"}:
            if not nested:
                return index
            nested -= text == "END" and tokens[index + 1].text == "IF"
    raise ValueError("an IF without end")


def _statements(tokens: tuple[Token, ...], first: int, end: int) -> list[int]:
    """Where each statement of a block begins; a nested block's statements count, too."""
    return [first, *(index + 1 for index in range(first, end - 1) if tokens[index].text == ";")]


def _conditions(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for start, then, end in _ifs(tokens):
        yield Edit("if_false", start + 1, then - 1, "false")
        last = tokens[_statements(tokens, then + 1, end)[-1]].text
        if last not in {"RETURN", "CONTINUE"}:
            yield Edit("if_true", start + 1, then - 1, "true")


def _leaves(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for _, then, end in _ifs(tokens):
        starts = _statements(tokens, then + 1, end)
        if len(starts) == 1:
            continue
        for start in starts:
            leaving = tokens[start].text
            if leaving == "RETURN" and tokens[start + 1].text not in {"QUERY", "NEXT"}:
                yield Edit("leave", start, _find(tokens, start, ";"), "")
            elif leaving == "CONTINUE" and tokens[start + 1].text == ";":
                yield Edit("leave", start, start + 1, "")


def _cases(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    simple: list[bool] = []
    for index, token in enumerate(tokens):
        if token.text == "CASE":
            simple.append(tokens[index + 1].text != "WHEN")
        elif token.text == "END" and simple:
            simple.pop()
        elif token.text == "WHEN" and tokens[index - 1].text in {"EXIT", "CONTINUE"}:
            yield Edit("when", index + 1, _find(tokens, index, ";") - 1, "false")
        elif token.text == "WHEN" and simple:
            never = "NULL" if simple[-1] else "false"
            yield Edit("case", index + 1, _find(tokens, index, "THEN") - 1, never)


def _locks(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        strength = [word.text for word in tokens[index + 1 : index + 4]]
        if token.text != "FOR" or strength[0] not in {"NO", "SHARE", "UPDATE", "KEY"}:
            continue
        last = index + {"NO": 3, "KEY": 2}.get(strength[0], 1)
        if last + 1 < len(tokens) and tokens[last + 1].text == "OF":
            yield Edit("of", last + 1, last + 2, "")
            last += 2
        if last + 1 < len(tokens) and tokens[last + 1].text == "SKIP":
            yield Edit("skip", last + 1, last + 2, "")
            last += 2
        yield Edit("lock", index, last, "")


def _performs(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.text == "PERFORM":
            yield Edit("perform", index, _find(tokens, index, ";"), "")


def _bounds(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.text in {"GREATEST", "LEAST", "LEFT"} and tokens[index + 1].text == "(":
            arguments, close = _arguments(tokens, index + 1)
            for first, last in arguments[:1] if token.text == "LEFT" else arguments:
                yield Edit("bound", index, close, f"({_source(first, last)})")
        elif token.text == "COALESCE":
            arguments, close = _arguments(tokens, index + 1)
            if tokens[arguments[-1][0]].text in {"TRUE", "FALSE"}:
                yield Edit("nulls", index, close, f"({_source(*arguments[0])})")


def _source(first: int, last: int) -> str:
    """A place in the new text for old text; `mutants` fills it."""
    return f"\0{first},{last}\0"


def _arguments(tokens: tuple[Token, ...], parenthesis: int) -> tuple[list[tuple[int, int]], int]:
    inside = tokens[parenthesis].depth + 1
    found: list[tuple[int, int]] = []
    first = parenthesis + 1
    for index in range(parenthesis + 1, len(tokens)):
        token = tokens[index]
        if token.depth < inside:
            return [*found, (first, index - 1)], index
        if token.depth == inside and token.text == ",":
            found.append((first, index - 1))
            first = index + 1
    raise ValueError("a parenthesis without end")


def _limits(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.text == "LIMIT":
            end = index + 1
            while end < len(tokens) and tokens[end].text not in _ENDS_LIMIT:
                end += 1
            yield Edit("limit", index, end - 1, "")


def _comparisons(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.text in _BOUNDARIES:
            yield Edit("boundary", index, index, _BOUNDARIES[token.text])
        elif token.text == "IS" and tokens[index + 1].text == "DISTINCT":
            yield Edit("boundary", index, index + 1, "IS NOT DISTINCT")
        elif token.text == "IS" and [word.text for word in tokens[index + 1 : index + 3]] == [
            "NOT",
            "DISTINCT",
        ]:
            yield Edit("boundary", index, index + 2, "IS DISTINCT")


def _conflicts(tokens: tuple[Token, ...]) -> Iterator[Edit]:
    for index, token in enumerate(tokens):
        if token.text == "ON" and tokens[index + 1].text == "CONFLICT":
            yield Edit("conflict", index, _find(tokens, index, "NOTHING"), "")


_OPERATORS: tuple[Callable[[tuple[Token, ...]], Iterator[Edit]], ...] = (
    _conditions,
    _leaves,
    _cases,
    _locks,
    _performs,
    _bounds,
    _limits,
    _comparisons,
    _conflicts,
)
