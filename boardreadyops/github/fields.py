"""Careful reading of GitHub's JSON: each value is checked and bounded, and a refusal names its path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from boardreadyops.domain.plain_text import storable

MAX_GITHUB_ID = 2**63 - 1
MAX_PULL_REQUEST_NUMBER = 2**31 - 1
MAX_LOGIN_CHARACTERS = 100
MAX_REPOSITORY_NAME_CHARACTERS = 200
MAX_REF_CHARACTERS = 500
MAX_TIME_CHARACTERS = 40

# Both become part of request paths, so nothing that could leave its path segment.
_LOGIN = re.compile(r"[A-Za-z0-9_\[\]-]+")
_REPOSITORY_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class MalformedField(ValueError):
    """A value that GitHub's own description rules out. The text is its path, never its content."""


class Fields:
    """One JSON object and where it stands in its document."""

    __slots__ = ("_path", "_values")

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, Mapping):
            raise MalformedField(path or "payload")
        self._values: Mapping[str, object] = value
        self._path = path

    def __contains__(self, name: str) -> bool:
        """Whether the value is there and not null."""
        return self._values.get(name) is not None

    def within(self, name: str) -> Fields:
        """The object under this name."""
        return Fields(self._values.get(name), self._at(name))

    def each(self, name: str) -> list[Fields]:
        """The objects of the list under this name; none when it is missing."""
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise MalformedField(self._at(name))
        return [Fields(one, f"{self._at(name)}[{index}]") for index, one in enumerate(value)]

    def id(self, name: str = "id") -> int:
        """One of GitHub's ids, which need 64 bits."""
        return self._integer(name, MAX_GITHUB_ID)

    def number(self, name: str = "number") -> int:
        """A pull request's number."""
        return self._integer(name, MAX_PULL_REQUEST_NUMBER)

    def flag(self, name: str, *, absent: bool) -> bool:
        """True or false; `absent` when it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return absent
        if not isinstance(value, bool):
            raise MalformedField(self._at(name))
        return value

    def text(self, name: str, *, limit_characters: int) -> str:
        """A text of 1 to `limit_characters` characters; NUL and lone surrogates are replaced."""
        value = self._values.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= limit_characters:
            raise MalformedField(self._at(name))
        return storable(value)

    def login(self, name: str = "login") -> str:
        """An account's name."""
        return self._matching(name, _LOGIN, MAX_LOGIN_CHARACTERS)

    def repository_name(self, name: str = "name") -> str:
        """A repository's name, without its owner."""
        text = self._matching(name, _REPOSITORY_NAME, MAX_REPOSITORY_NAME_CHARACTERS)
        if text in (".", ".."):
            raise MalformedField(self._at(name))
        return text

    def sha(self, name: str = "sha") -> str:
        """A full commit SHA, 40 or 64 lower-case hex digits."""
        return self._matching(name, _SHA, 64)

    def moment(self, name: str) -> datetime:
        """A time in UTC, from ISO 8601 with a zone or from seconds since 1970 (older installation events)."""
        value = self._values.get(name)
        try:
            if isinstance(value, str) and len(value) <= MAX_TIME_CHARACTERS:
                moment = datetime.fromisoformat(value)
                if moment.tzinfo is not None:
                    return moment.astimezone(UTC)
            elif isinstance(value, int) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            raise MalformedField(self._at(name)) from None
        raise MalformedField(self._at(name))

    def choice(self, name: str, *choices: str) -> str:
        """One of these words."""
        value = self._values.get(name)
        if not isinstance(value, str) or value not in choices:
            raise MalformedField(self._at(name))
        return value

    def _integer(self, name: str, maximum: int) -> int:
        value = self._values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= maximum:
            raise MalformedField(self._at(name))
        return value

    def _matching(self, name: str, pattern: re.Pattern[str], limit_characters: int) -> str:
        value = self._values.get(name)
        if not isinstance(value, str) or len(value) > limit_characters or not pattern.fullmatch(value):
            raise MalformedField(self._at(name))
        return value

    def _at(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
