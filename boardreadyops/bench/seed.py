"""Rows for measurements, inserted behind the guarded functions: the one module that may, and never in a served database.

The statements are sections of `sql/bench/seed.sql`; how much they insert are settings of the session.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from boardreadyops.config import Secret
from boardreadyops.db.pool import Connection, connect

INSTALLATIONS = 100
_SECTION = re.compile(r"^--! section (\w+)$", re.MULTILINE)
RUNNERS = 64


@dataclass(frozen=True, slots=True)
class Amount:
    """How many runs, counted from `first`: so many finished, then so many queued."""

    finished: int
    queued: int
    first: int = 0


def script(name: str) -> Path:
    """The file of a statement or load, for programs that read files."""
    return Path(str(files("boardreadyops").joinpath("sql", "bench", f"{name}.sql")))


@cache
def statement(name: str) -> str:
    """The text of a section of `sql/bench/seed.sql`, else of `sql/bench/<name>.sql`."""
    _, *parts = _SECTION.split(script("seed").read_text(encoding="utf-8"))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    return sections.get(name) or script(name).read_text(encoding="utf-8")


async def seed_world(owner: Secret) -> None:
    """Installations, repositories and runners of an empty, migrated database."""
    await _run(owner, Amount(0, 0), "seed_world")


async def seed_runs(owner: Secret, amount: Amount) -> None:
    """Runs with all that belongs to them; two connections share the work, indexes are built at the end.

    A superuser's URL. Nobody else may use the database meanwhile.
    """
    await _run(owner, amount, "seed_begin")
    await asyncio.gather(*(_seed_rows(owner, half) for half in _halves(amount)))
    await _run(owner, amount, "seed_end")


def _halves(amount: Amount) -> tuple[tuple[Amount, ...], tuple[Amount, ...]]:
    """The same runs in two shares, each with its part of the finished and of the queued ones."""
    finished, queued = amount.finished // 2, amount.queued // 2
    first_queued = amount.first + amount.finished
    return (
        (Amount(finished, 0, amount.first), Amount(0, queued, first_queued)),
        (
            Amount(amount.finished - finished, 0, amount.first + finished),
            Amount(0, amount.queued - queued, first_queued + queued),
        ),
    )


async def _seed_rows(owner: Secret, share: tuple[Amount, ...]) -> None:
    for amount in share:
        await _run(owner, amount, "seed_rows", "seed_runs", "seed_attempts", "seed_publications")


async def seed_workflow_runs(owner: Secret, amount: Amount) -> None:
    """Turn the queued runs into workflow runs with a planned attempt."""
    await _run(owner, amount, "seed_workflow_runs", "seed_statistics")


async def seed_leases(owner: Secret, amount: Amount, *, stage: str) -> None:
    """Turn the queued runs into running ones with a live lease at this stage."""
    await _run(owner, amount, "seed_leases", "seed_statistics", stage=stage)


async def seed_dead_entries(owner: Secret, count: int) -> None:
    """Start the `count` oldest queued runs in bulk, which leaves as many dead entries at the heads of the queues."""
    await _run(owner, Amount(0, 0), "seed_dead_entries", dead=count)


async def _run(owner: Secret, amount: Amount, *names: str, stage: str = "", dead: int = 0) -> None:
    connection = await connect(owner, application_name="boardreadyops bench")
    try:
        await set_amount(connection, amount, stage=stage, dead=dead)
        for name in names:
            await connection.execute(statement(name))
    finally:
        await connection.close()


async def set_amount(connection: Connection, amount: Amount, *, stage: str = "", dead: int = 0) -> None:
    """Say in this session how much the seeding files insert."""
    values = (amount.finished, amount.queued, INSTALLATIONS, amount.first, stage, dead)
    await connection.execute(statement("seed_settings"), *map(str, values))
