"""The sweeper: deadlines that passed, runners that fell silent, refs whose head must be asked again.

Runs in every replica; PostgreSQL lets each row be taken once. A batch that fails is repeated row by row, and the row that
fails alone is left out for a while, so that it stops nobody else.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

from boardreadyops.db.pool import Connection, Database, StatementFailed, run_transaction
from boardreadyops.db.sweeps import Sweep, expire_runner_leases, list_due, sweep_deadlines, sweep_levels
from boardreadyops.worker.ticker import Ticker

INTERVAL_SECONDS = 1.0
BATCH_ROWS = 100
# How many rounds a row that failed alone is left out; with INTERVAL_SECONDS about five minutes.
PARKED_ROUNDS = 300

logger = logging.getLogger(__name__)

# All that is due, or the one row that is named.
Take = Callable[[Connection, UUID | None], Awaitable[tuple[object, ...]]]


class Sweeper:
    """Sweeps every INTERVAL_SECONDS. `run` until `stop`, or `run_once` for a single round."""

    def __init__(
        self,
        database: Database,
        *,
        interval_seconds: float = INTERVAL_SECONDS,
        rng: random.Random | None = None,
    ) -> None:
        self._database = database
        self._ticker = Ticker(
            "sweeper", self.run_once, interval_seconds=interval_seconds, rng=rng or random.Random()
        )
        self._round = 0
        self._parked: dict[UUID, int] = {}

    def stop(self) -> None:
        """Let the present round end, then `run` returns. Idempotent."""
        self._ticker.stop()

    async def run(self) -> None:
        """Sweep until `stop`."""
        await self._ticker.run()

    async def run_once(self) -> int:
        """One round over all that is due, and how many rows it took. DatabaseUnavailable."""
        self._round += 1
        self._parked = {row: until for row, until in self._parked.items() if until > self._round}
        swept = await self._all("leases", _leases)
        swept += await self._all("deadlines", _deadlines)
        return swept + await self._levels()

    async def _levels(self) -> int:
        """One ref a transaction, as each takes locks from the tenant down; one that fails is passed by until the next round."""
        swept = failed = 0
        for _ in range(BATCH_ROWS):
            try:
                taken = await self._batch("levels", partial(_level, skip=failed))
            except StatementFailed:
                logger.exception("event=sweep_failed sweep=levels passed_by=%d", failed)
                failed += 1
                continue
            swept += taken
            if not taken:
                break
        return swept

    async def _all(self, name: Sweep, take: Take) -> int:
        if self._parked:  # a parked row would fail every batch again
            return await self._row_by_row(name, take)
        try:
            return await self._batch(name, take)
        except StatementFailed as error:
            logger.warning(
                "event=sweep_failed sweep=%s detail=%s repeats=row_by_row", name, type(error).__name__
            )
            return await self._row_by_row(name, take)

    async def _batch(self, name: str, take: Take, only: UUID | None = None) -> int:
        async def work(connection: Connection) -> tuple[object, ...]:
            return await take(connection, only)

        taken = await run_transaction(self._database, work)
        for row in taken:
            logger.info("event=swept sweep=%s %s", name, row)
        return len(taken)

    async def _row_by_row(self, name: Sweep, take: Take) -> int:
        async with self._database.connection() as connection:
            due = await list_due(connection, name, limit=BATCH_ROWS + len(self._parked))
        swept = 0
        for row in due:
            if row in self._parked:
                continue
            try:
                swept += await self._batch(name, take, row)
            except StatementFailed:
                self._parked[row] = self._round + PARKED_ROUNDS
                logger.exception("event=sweep_parked sweep=%s row=%s", name, row)
        return swept


async def _leases(connection: Connection, only: UUID | None) -> tuple[object, ...]:
    return await expire_runner_leases(connection, limit=BATCH_ROWS, only_lease_id=only)


async def _deadlines(connection: Connection, only: UUID | None) -> tuple[object, ...]:
    return await sweep_deadlines(connection, limit=BATCH_ROWS, only_run_id=only)


async def _level(connection: Connection, only: UUID | None, *, skip: int) -> tuple[object, ...]:
    return await sweep_levels(connection, limit=BATCH_ROWS, skip=skip)
