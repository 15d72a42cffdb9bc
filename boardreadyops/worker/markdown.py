"""GitHub's Markdown with text from outside in it: inert, whatever that text holds, and bounded in bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from boardreadyops.domain.plain_text import one_line

# Shown as nothing, and enough to keep GitHub from linking a person, an issue, a commit or an address.
_GAP = "\N{ZERO WIDTH SPACE}"
# A character reference never acts as markup, in tables neither.
_REFERENCES = str.maketrans({one: f"&#{ord(one)};" for one in "&<>\\`*_[]~|$\"'"})
_LINKS = re.compile(r"(?<=[@#])(?=\S)|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=gh)(?=-\d)", re.IGNORECASE)
_LINE_START = re.compile(r"^(?:[#+=-]|\d+(?=[.)]))")
_PLAIN_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/+ -]*")


def escape(text: str, *, limit_characters: int) -> str:
    """The text as one line of Markdown that shows it and does nothing else; cut before it is escaped."""
    return _LINKS.sub(_GAP, one_line(text, limit_characters=limit_characters)).translate(_REFERENCES)


def paragraph(text: str, *, limit_characters: int) -> str:
    """The escaped text where a line begins: no heading, no list."""
    return _LINE_START.sub(_as_reference, escape(text, limit_characters=limit_characters))


def code(text: str, *, limit_characters: int) -> str:
    """An identifier in code font; anything that is not plainly one is escaped instead."""
    line = one_line(text, limit_characters=limit_characters)
    if _PLAIN_CODE.fullmatch(line):
        return f"`{line}`"
    return escape(text, limit_characters=limit_characters)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table of cells that are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def fit(lines: Sequence[str], *, limit_bytes: int) -> int:
    """How many of these lines, each with its line end, fit into so many bytes of UTF-8."""
    used = 0
    for count, line in enumerate(lines):
        used += len(line.encode()) + 1
        if used > limit_bytes:
            return count
    return len(lines)


def _as_reference(match: re.Match[str]) -> str:
    return "".join(f"&#{ord(one)};" for one in match.group())
