"""Wait for a change instead of sleeping."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


class Signals:
    """Wakes those who wait for something to become true, at each change of the stand-in's state."""

    def __init__(self) -> None:
        """Start with nobody waiting."""
        self._next_change = asyncio.Event()

    def changed(self) -> None:
        """Tell that the state changed."""
        self._next_change.set()
        self._next_change = asyncio.Event()

    async def first(self, find: Callable[[], Found | None], *, timeout_seconds: float) -> Found:
        """Return what `find` finds, now or after a later change; TimeoutError if it finds nothing in time."""
        async with asyncio.timeout(timeout_seconds):
            while True:
                change = self._next_change
                found = find()
                if found is not None:
                    return found
                await change.wait()
