"""A step every so often: with jitter, woken early, stopped cleanly, and with a signal that tests can await."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from boardreadyops.db.pool import DatabaseUnavailable

# Replicas started together must not ask together for ever.
JITTER = 0.2
# While the database is away nobody needs an answer several times a second.
MAX_PAUSE_SECONDS = 5.0

logger = logging.getLogger(__name__)


class Ticker:
    """Runs `step` at once and then every `interval_seconds` ± 20 %, or sooner after `wake()`.

    A step that meets an absent database is repeated at growing intervals; any other exception ends the loop.
    """

    def __init__(
        self, name: str, step: Callable[[], Awaitable[object]], *, interval_seconds: float, rng: random.Random
    ) -> None:
        self._name = name
        self._step = step
        self._interval_seconds = interval_seconds
        self._rng = rng
        self._woken = asyncio.Event()
        self._stopping = False
        self._ticks = 0
        self._ticked = asyncio.Condition()

    @property
    def ticks(self) -> int:
        """How many steps have ended."""
        return self._ticks

    def wake(self) -> None:
        """Run the next step as soon as the present one has ended. Many calls count as one."""
        self._woken.set()

    def stop(self) -> None:
        """Let the present step end, then `run` returns. Idempotent."""
        self._stopping = True
        self._woken.set()

    async def ticked(self, *, beyond: int) -> int:
        """Wait until more than `beyond` steps have ended, and return how many have."""
        async with self._ticked:
            await self._ticked.wait_for(lambda: self._ticks > beyond)
            return self._ticks

    async def run(self) -> None:
        """Run until `stop`; whatever the step raises, an absent database apart, comes out here."""
        absent = 0
        while not self._stopping:
            self._woken.clear()
            try:
                await self._step()
                absent = 0
            except DatabaseUnavailable as error:
                absent += 1
                if absent == 1:
                    logger.warning("event=%s_waits_for_database detail=%s", self._name, error)
            async with self._ticked:
                self._ticks += 1
                self._ticked.notify_all()
            await self._pause(absent)

    async def _pause(self, absent: int) -> None:
        """Until the interval has passed or somebody wakes us; an absent database is not asked sooner for that."""
        if self._stopping:
            return
        pause_seconds = self._interval_seconds * self._rng.uniform(1 - JITTER, 1 + JITTER)
        if absent:
            pause_seconds = min(MAX_PAUSE_SECONDS, pause_seconds * 2 ** min(absent, 16))
        try:
            async with asyncio.timeout(pause_seconds):
                await self._woken.wait()
        except TimeoutError:
            return
