"""The stretches of a function that run as one: who enters such a block meets every guard in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools.mutate.tokens import Function, Token


@dataclass(frozen=True, slots=True)
class Block:
    """A mark fits behind byte `begins`; names are function:number, from 0."""

    name: str
    begins: int


def blocks(function: Function) -> tuple[list[Block], list[int]]:
    """The blocks in the order of the text, and for each token the number of its block."""
    if function.language == "sql":
        return [Block(f"{function.name}:0", function.tokens[0].start)], [0] * len(function.tokens)
    places, numbers = _walk(function.tokens)
    return [Block(f"{function.name}:{number}", place) for number, place in enumerate(places)], numbers


def _walk(tokens: tuple[Token, ...]) -> tuple[list[int], list[int]]:
    outside: list[int] = []
    places: list[int] = []
    numbers: list[int] = []
    now = 0
    for index, step in enumerate(_steps(tokens)):
        if step == "opens":
            outside.append(now)
        elif step == "again":
            now = outside[-1]
        numbers.append(max(now, 0))
        if step in {"enters", "opens and enters", "closed"}:
            if step == "opens and enters":
                outside.append(now)
            elif step == "closed":
                outside.pop()
            places.append(tokens[index].end)
            now = len(places) - 1
    return places, numbers


def _steps(tokens: tuple[Token, ...]) -> Iterator[str]:
    """What each token does: an IF opens, its condition is met again at ELSIF, a LOOP opens and enters."""
    cases = 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1].text if index else ""
        cases += token.text == "CASE"
        if cases:
            cases -= token.text == "END"
            yield ""
        elif token.text == "IF" and before != "END":
            yield "opens"
        elif token.text == "ELSIF":
            yield "again"
        elif token.text == "LOOP" and before != "END":
            yield "opens and enters"
        elif token.text in {"THEN", "ELSE", "BEGIN"}:
            yield "enters"
        elif token.text == ";" and before in {"IF", "LOOP"}:
            yield "closed"
        else:
            yield ""
