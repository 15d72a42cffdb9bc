"""Answers that are sent again only when they have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from uuid import UUID

import orjson
from fastapi import Request, Response

from boardreadyops import __version__

ETAG_DIGITS = 32


def etag_of(*facts: object) -> str:
    """A tag over everything an answer is made from, the program's version included."""
    text = to_json((__version__, *facts))
    return f'"{hashlib.sha256(text).hexdigest()[:ETAG_DIGITS]}"'


def is_known(request: Request, etag: str) -> bool:
    """Whether whoever asks already has this very answer."""
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in given.split(","))


def json_answer(request: Request, document: Mapping[str, object]) -> Response:
    """A JSON document, or 304 when it is known."""
    etag = etag_of(document)
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if is_known(request, etag):
        return Response(status_code=304, headers=headers)
    return Response(to_json(document), 200, headers, "application/json")


def to_json(value: object) -> bytes:
    """JSON of documents and frozen facts; the driver's own kind of UUID included."""
    return orjson.dumps(value, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(type(value).__name__)
