"""Request bodies in bounded memory."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from fastapi import Request

from boardreadyops.runner.wire import Message, Refused, read_message
from boardreadyops.web.problems import Problem

BODY_SECONDS = 60.0  # for a whole body to arrive
MAX_LENGTH_DIGITS = 18  # of a Content-Length that is looked at as a number

Read = TypeVar("Read", bound=Message)


async def read_body(request: Request, *, limit_bytes: int) -> bytes:
    """The whole body; more than `limit_bytes` is refused with 413 before more of it is read."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and (len(announced) > MAX_LENGTH_DIGITS or int(announced) > limit_bytes):
        raise _too_large(limit_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                if len(body) + len(chunk) > limit_bytes:
                    raise _too_large(limit_bytes)
                body += chunk
    except TimeoutError:
        raise Problem(408, "too_slow", "The body took too long to arrive.", {"Connection": "close"}) from None
    return bytes(body)


async def read_request(request: Request, model: type[Read], *, limit_bytes: int) -> Read:
    """The message in a body: 413 when it is too large, 422 naming the field when it is not that message."""
    return parsed(model, await read_body(request, limit_bytes=limit_bytes))


def parsed(model: type[Read], body: bytes) -> Read:
    """The message in these bytes, or 422 naming the field."""
    message = read_message(model, body)
    if isinstance(message, Refused):
        raise Problem(422, "invalid_request", message.detail)
    return message


def _too_large(limit_bytes: int) -> Problem:
    # The connection stays: what is still sent is dropped unread, or closing it would take this answer with it.
    return Problem(413, "too_large", f"The body may hold at most {limit_bytes:,} bytes.")
