"""AND and OR: which words they join, and what is left when one operand is gone."""

from __future__ import annotations

from collections.abc import Iterator

from tools.mutate.tokens import Token

# Words at which a condition of the same depth begins or ends. DISTINCT FROM is none of them.
_EDGES = frozenset(
    {
        "WHERE",
        "IF",
        "ELSIF",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "ON",
        "JOIN",
        "SELECT",
        "FROM",
        "INTO",
        "ORDER",
        "LIMIT",
    }
    | {"FOR", "GROUP", "UNION", "RETURNING", "RETURN", "SET", "DO", "BEGIN", "LOOP", ":=", ";", ","}
)


def terms(tokens: tuple[Token, ...]) -> Iterator[tuple[int, int, str]]:
    """(first, last, new text): each operand taken out once; a WHERE that is one predicate becomes true."""
    seen = set()
    for index, token in enumerate(tokens):
        if token.text == "WHERE" or (token.text in {"AND", "OR"} and not _of_between(tokens, index)):
            start, end = _region(tokens, index + 1 if token.text == "WHERE" else index)
            if start in seen or _infers_an_index(tokens, start):
                continue
            seen.add(start)
            operands = list(_operands(tokens, start, end))
            yield from operands or [(start, end, "true")]


def _region(tokens: tuple[Token, ...], inside: int) -> tuple[int, int]:
    depth = tokens[inside].depth
    start = inside
    while start > 0 and not _edge(tokens, start - 1, depth):
        start -= 1
    end = inside
    while end + 1 < len(tokens) and not _edge(tokens, end + 1, depth):
        end += 1
    return start, end


def _edge(tokens: tuple[Token, ...], index: int, depth: int) -> bool:
    token = tokens[index]
    if token.depth < depth:
        return True
    if token.depth > depth:
        return False
    if token.text == "FROM":
        return tokens[index - 1].text != "DISTINCT"
    return token.text in _EDGES or (token.text == "=" and _assigns(tokens, index))


def _assigns(tokens: tuple[Token, ...], index: int) -> bool:
    """Whether this `=` gives a column its value: the first one behind SET or a comma of a SET list."""
    depth = tokens[index].depth
    first = True
    for back in range(index - 1, -1, -1):
        token = tokens[back]
        if token.depth < depth:
            return False
        if token.depth > depth:
            continue
        if token.text == "SET":
            return first
        if token.text == "=" or token.text in {"AND", "OR", "CASE"}:
            first = first and _behind_a_comma(tokens, back, index)
        if token.text in {"WHERE", "FROM", "SELECT", "VALUES", "IF", ";"}:
            return False
    return False


def _behind_a_comma(tokens: tuple[Token, ...], earlier: int, index: int) -> bool:
    depth = tokens[index].depth
    return any(token.depth == depth and token.text == "," for token in tokens[earlier:index])


def _operands(tokens: tuple[Token, ...], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    disjuncts = _split(tokens, start, end, "OR")
    yield from _each_left_out(disjuncts)
    for first, last in disjuncts:
        yield from _each_left_out(_split(tokens, first, last, "AND"))


def _each_left_out(operands: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Each operand goes with the AND or OR beside it."""
    if len(operands) < 2:
        return
    for number, (first, last) in enumerate(operands):
        yield (first, last + 1, "") if number == 0 else (first - 1, last, "")


def _split(tokens: tuple[Token, ...], start: int, end: int, word: str) -> list[tuple[int, int]]:
    depth = tokens[start].depth
    found, first, cases = [], start, 0
    for index in range(start, end + 1):
        token = tokens[index]
        if token.depth != depth:
            continue
        cases += (token.text == "CASE") - (token.text == "END")
        if token.text == word and not cases and not _of_between(tokens, index):
            found.append((first, index - 1))
            first = index + 1
    return [*found, (first, end)]


def _of_between(tokens: tuple[Token, ...], index: int) -> bool:
    depth = tokens[index].depth
    for back in range(index - 1, -1, -1):
        token = tokens[back]
        if token.depth < depth:
            return False
        if token.depth == depth and token.text in {"AND", "OR", *_EDGES}:
            return False
        if token.depth == depth and token.text == "BETWEEN":
            return True
    return False


def _infers_an_index(tokens: tuple[Token, ...], start: int) -> bool:
    """The WHERE of ON CONFLICT names an index: less of it names none, and nothing runs at all."""
    back = [token.text for token in tokens[max(0, start - 12) : start] if token.depth == tokens[start].depth]
    return back[-1:] == ["WHERE"] and "CONFLICT" in back
