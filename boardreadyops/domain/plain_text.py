"""Text from outside made harmless: one bounded line that can be printed, stored as UTF-8 and escaped by whoever shows it."""

from __future__ import annotations

import re

SHA_DIGITS = 7
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def one_line(text: str, *, limit_characters: int) -> str:
    """Collapse to one line without control, format and surrogate characters, cut with an ellipsis at the limit."""
    start = text[: 4 * limit_characters]
    line = " ".join("".join(one if one.isprintable() else " " for one in start).split())
    if len(line) <= limit_characters and len(start) == len(text):
        return line
    return line[: limit_characters - 1].rstrip() + "…"


def storable(text: str) -> str:
    """Replace what UTF-8 and PostgreSQL cannot hold: NUL and lone surrogates become U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def short_sha(commit_sha: str) -> str:
    """The digits of a commit that people read and say."""
    return commit_sha[:SHA_DIGITS]


def counted(count: int, noun: str) -> str:
    """`1 finding`, `2 findings`, `1,200 findings`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def duration_words(seconds: float) -> str:
    """A duration as people say it, in its two largest units: `6 hours`, `1 hour 30 minutes`, `45 seconds`."""
    whole = max(0, round(seconds))
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    parts: list[str] = []
    for name, size in units:
        amount, whole = divmod(whole, size)
        if amount or parts:
            parts.append(counted(amount, name) if amount else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part) or "0 seconds"
