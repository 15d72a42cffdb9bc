"""Texts in Python: a string expression as it would be at run time, with a hole for what only runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

HOLE = "\N{WHITE SQUARE}"
_PERCENT = re.compile(r"%(?:\([^)]*\))?[#0\- +]*[\d*]*(?:\.[\d*]+)?[sdrfixXeg]")
_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Text:
    """What a string expression says; `built` when it is put together at run time."""

    text: str
    built: bool
    line: int


class Texts:
    """All texts of one module; docstrings and other strings that stand alone are prose and left out."""

    def __init__(self, module: ast.Module) -> None:
        self._module = module
        self._prose = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
        self._names = _constants(module)
        self._used: set[int] = set()

    def __iter__(self) -> Iterator[Text]:
        grown: dict[str, str] = {}
        for node in ast.walk(self._module):  # a parent comes before its parts
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
                added = self._said(node.value, alone=False)
                if added is not None:
                    grown[name] = grown.get(name, self._names.get(name, HOLE)) + added
                    yield Text(grown[name], built=True, line=node.lineno)
            elif isinstance(node, ast.expr) and id(node) not in self._prose and id(node) not in self._used:
                said = self._said(node)
                if said is not None:
                    built = not isinstance(node, ast.Constant)
                    yield Text(said, built, node.lineno)

    def _said(self, node: ast.expr, *, alone: bool = True) -> str | None:
        """The text of an expression, its parts marked as used; None for anything that is no text."""
        match node:
            case ast.Constant(value=str(text)):
                self._used.add(id(node))
                return text
            case ast.Constant(value=bytes(raw)):
                self._used.add(id(node))
                return raw.decode("latin-1")
            case ast.Name(id=name) if not alone and name in self._names:
                return self._names[name]
            case ast.JoinedStr(values=values):
                return self._joined(values, "")
            case ast.FormattedValue(value=value):
                return self._said(value, alone=False) if isinstance(value, ast.Name) else None
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined([left, right], "")
            case ast.BinOp(op=ast.Mod(), left=left):
                said = self._said(left, alone=False)
                return None if said is None else _PERCENT.sub(HOLE, said)
            case ast.Call(func=ast.Attribute(attr=attr, value=value), args=args):
                return self._called(attr, value, args)
            case _:
                return None

    def _joined(self, nodes: list[ast.expr], between: str) -> str | None:
        parts = [self._said(node, alone=False) for node in nodes]
        self._used.update(id(node) for node, part in zip(nodes, parts, strict=True) if part is not None)
        if all(part is None for part in parts):
            return None
        return between.join(HOLE if part is None else part for part in parts)

    def _called(self, attr: str, value: ast.expr, args: list[ast.expr]) -> str | None:
        if attr in {"format", "format_map"} and (text := self._said(value, alone=False)) is not None:
            return _BRACES.sub(HOLE, text)
        if attr in {"replace", "substitute", "safe_substitute"}:
            return self._said(value, alone=False)
        if attr == "join" and (between := self._said(value, alone=False)) is not None:
            match args:
                case [ast.List(elts=parts) | ast.Tuple(elts=parts)]:
                    return self._joined(parts, between) or between
                case _:
                    return between
        return None


def _constants(module: ast.Module) -> dict[str, str]:
    """Names that are given one text and no other, anywhere in the module."""
    given: dict[str, list[str | None]] = {}
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        constant = value.value if isinstance(value, ast.Constant) else None
        given.setdefault(name, []).append(constant if isinstance(constant, str) else None)
    return {name: texts[0] for name, texts in given.items() if len(texts) == 1 and texts[0] is not None}
