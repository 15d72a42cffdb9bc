"""Request bodies in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from fastapi import Request

from boardreadyops.runner.wire import Message, Refused, read_message
from boardreadyops.web.problems import RETRY_AFTER_SECONDS, Problem

BODY_SECONDS = 60.0  # for a whole body to arrive
MAX_LENGTH_DIGITS = 18  # of a Content-Length that is looked at as a number
LARGE_BODY_BYTES = 256 * 1024  # a webhook's body beyond this needs a place
MAX_LARGE_BODIES = 4  # places: webhook bodies beyond LARGE_BODY_BYTES that are held at once
PLACE_WAIT_SECONDS = 5.0  # for a place; then the sender is told to come again

Read = TypeVar("Read", bound=Message)


async def read_body(request: Request, *, limit_bytes: int) -> bytes:
    """The whole body; more than `limit_bytes` is refused with 413 before more of it is read."""
    return bytes(await _read(request, limit_bytes, None))


@asynccontextmanager
async def unproven_body(
    request: Request, *, limit_bytes: int, places: asyncio.Semaphore
) -> AsyncIterator[bytearray]:
    """The whole body of somebody who proves only with it that he may send it; let go of it with the block.

    Anybody can send many large ones at once, so beyond LARGE_BODY_BYTES each holds one of `places`; 503 without one.
    """
    async with AsyncExitStack() as held:

        async def take_place() -> None:
            try:
                async with asyncio.timeout(PLACE_WAIT_SECONDS):
                    await held.enter_async_context(places)
            except TimeoutError:
                headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
                raise Problem(503, "busy", "Too many large bodies at once; send it again.", headers) from None

        yield await _read(request, limit_bytes, take_place)


async def _read(
    request: Request, limit_bytes: int, take_place: Callable[[], Awaitable[None]] | None
) -> bytearray:
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
                if take_place is not None and len(body) > LARGE_BODY_BYTES:
                    await take_place()
                    take_place = None
    except TimeoutError:
        raise Problem(408, "too_slow", "The body took too long to arrive.", {"Connection": "close"}) from None
    return body


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
