"""Runners that wait for work: no connection each, one look at the database for all of them."""

from __future__ import annotations

import asyncio

from boardreadyops.db.claimable import newest_claimable
from boardreadyops.db.pool import Database, DatabaseUnavailable

LOOK_SECONDS = 0.5  # how late work that another process took in is seen
REPEAT_SECONDS = 5.0  # a waiting runner asks for itself again at the latest, whatever was seen


class WorkSignal:
    """Wakes everybody who waits for work: at once for work taken in here, after a look for any other.

    A waiter takes a ticket before it asks for work, so that nothing falls between asking and waiting.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._next = asyncio.Event()
        self._waiting = 0
        self._watch: asyncio.Task[None] | None = None
        self._seen: object = None
        self.closed = False

    def ticket(self) -> asyncio.Event:
        """Set at the first wake after this call."""
        return self._next

    def wake(self) -> None:
        """There may be work now."""
        self._next.set()
        self._next = asyncio.Event()

    def close(self) -> None:
        """Nobody waits any more: the server is going away. Idempotent."""
        self.closed = True
        self.wake()
        if self._watch is not None:
            self._watch.cancel()

    async def wait(self, ticket: asyncio.Event, *, timeout_seconds: float) -> None:
        """Return at the ticket's wake, at the latest after `timeout_seconds` or REPEAT_SECONDS."""
        if self._watch is None and not self.closed:
            self._watch = asyncio.create_task(self._look())
        self._waiting += 1
        try:
            async with asyncio.timeout(min(timeout_seconds, REPEAT_SECONDS)):
                await ticket.wait()
        except TimeoutError:
            return
        finally:
            self._waiting -= 1

    async def _look(self) -> None:
        """Wake when another run has become claimable; ends when nobody waits."""
        try:
            while self._waiting:
                await asyncio.sleep(LOOK_SECONDS)
                try:
                    async with self._database.connection() as connection:
                        found = await newest_claimable(connection)
                except DatabaseUnavailable:
                    continue
                if found != self._seen:
                    self._seen = found
                    self.wake()
        finally:
            self._watch = None
