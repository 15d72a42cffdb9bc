"""The words of one SQL function's body, with where they stand and how deep in parentheses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import postgast

_BODY = re.compile(rb"AS \$\$\n(.*)\n\$\$;", re.DOTALL)
_NAME = re.compile(rb"^CREATE OR REPLACE FUNCTION boardreadyops_(\w+)", re.MULTILINE)
_COMMENTS = frozenset({"SQL_COMMENT", "C_COMMENT"})


@dataclass(frozen=True, slots=True)
class Token:
    """One word; `start` and `end` count bytes of the file, `depth` the parentheses around it."""

    text: str
    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function file: its whole source and the tokens of its body, comments left out."""

    name: str
    source: bytes
    tokens: tuple[Token, ...]
    language: str

    def line(self, offset: int) -> int:
        """The file's line, from 1, that holds this byte."""
        return self.source.count(b"\n", 0, offset) + 1

    def text(self, first: int, last: int) -> str:
        """The source from the first token to the last, both included."""
        return self.source[self.tokens[first].start : self.tokens[last].end].decode()


def read_function(path: Path) -> Function:
    """Read one file of sql/functions; ValueError when it is not one function with a `$$` body."""
    source = path.read_bytes()
    body, name = _BODY.search(source), _NAME.search(source)
    if body is None or name is None:
        raise ValueError(f"{path.name}: not one CREATE OR REPLACE FUNCTION boardreadyops_… AS $$ … $$;")
    language = "plpgsql" if b"LANGUAGE plpgsql" in source[: body.start()] else "sql"
    return Function(name[1].decode(), source, _scan(body[1], body.start(1)), language)


def _scan(body: bytes, offset: int) -> tuple[Token, ...]:
    found = []
    depth = 0
    for token in postgast.scan(body.decode()).tokens:
        if postgast.pg_query_pb2.Token.Name(token.token) in _COMMENTS:
            continue
        text = body[token.start : token.end].decode()
        if text in {")", "]"}:
            depth -= 1
        shown = text if text[0] in "'\"" else text.upper()
        found.append(Token(shown, offset + token.start, offset + token.end, depth))
        if text in {"(", "["}:
            depth += 1
    return tuple(found)
