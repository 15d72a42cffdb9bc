"""Tables for terminals: aligned columns where they fit, else a block of lines for each row."""

from __future__ import annotations

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence

MIN_TABLE_WIDTH_CHARACTERS = 20
GAP = "  "


def terminal_width() -> int | None:
    """How wide lines may be; None where nobody said, as in a pipe."""
    if not sys.stdout.isatty():
        return shutil.get_terminal_size((0, 0)).columns or None
    return shutil.get_terminal_size().columns


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None) -> list[str]:
    """The lines of a table. No line is wider than `width`, unless that is under MIN_TABLE_WIDTH_CHARACTERS."""
    cells = [[heading.upper() for heading in headings], *rows]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(headings))]
    if width is None or sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        return [GAP.join(map(_padded, row, widths)).rstrip() for row in cells]
    lines: list[str] = []
    for row in rows:
        lines += [""] if lines else []
        for heading, cell in zip(headings, row, strict=True):
            lines += _wrapped(f"{heading}: {cell}", max(width, MIN_TABLE_WIDTH_CHARACTERS))
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    # A wide character takes two places, so a line that holds some may take half as many.
    narrow = width if _width(text) == len(text) else width // 2
    return textwrap.wrap(text, narrow, subsequent_indent=GAP)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    return sum(_places(mark) for mark in text)


def _places(mark: str) -> int:
    if unicodedata.combining(mark):
        return 0
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1
