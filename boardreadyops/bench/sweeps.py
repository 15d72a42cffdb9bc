"""(e) Every sweep with nothing due, beside millions of runs that are not."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from boardreadyops.bench.claims import LARGE
from boardreadyops.bench.results import Result, measured
from boardreadyops.bench.rounds import Bench
from boardreadyops.db.outbox import claim_outbox
from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.publications import claim_publications, claim_verifications
from boardreadyops.db.sweeps import expire_runner_leases, list_due, sweep_deadlines, sweep_levels

BATCH = 100
CALLS_PER_ROUND = 50
TARGET_MILLISECONDS = 2.0

SWEEPS: dict[str, Callable[[Connection], Awaitable[object]]] = {
    "deadlines": lambda connection: sweep_deadlines(connection, limit=BATCH),
    "leases": lambda connection: expire_runner_leases(connection, limit=BATCH),
    "levels": lambda connection: sweep_levels(connection, limit=BATCH),
    "due_list": lambda connection: list_due(connection, "deadlines", limit=BATCH),
    "outbox": lambda connection: claim_outbox(connection, limit=BATCH, lease_seconds=30),
    "publications": lambda connection: claim_publications(
        connection, limit=BATCH, lease_seconds=30, doubt_seconds=60
    ),
    "verifications": lambda connection: claim_verifications(connection, limit=BATCH, lease_seconds=30),
}


async def measure(bench: Bench) -> list[Result]:
    """The median of a round's calls, through the application's pool, all sweeps in turns."""
    database = await Database.open(
        bench.server.logins(LARGE).app, max_connections=1, application_name="boardreadyops bench"
    )

    async def one(_number: int) -> dict[str, float]:
        async with database.connection() as connection:
            return {name: await _milliseconds(connection, sweep) for name, sweep in SWEEPS.items()}

    try:
        rounds = await bench.repeat("sweeps with nothing due", one)
    finally:
        await database.close()
    return [
        measured(
            f"sweep.{name}", f"one sweep of {name} with nothing due", "ms", [taken[name] for taken in rounds],
            target=TARGET_MILLISECONDS, bound="at_most",
        )
        for name in SWEEPS
    ]  # fmt: skip


async def _milliseconds(connection: Connection, sweep: Callable[[Connection], Awaitable[object]]) -> float:
    taken = []
    for _ in range(CALLS_PER_ROUND):
        begin = time.perf_counter()
        await sweep(connection)
        taken.append((time.perf_counter() - begin) * 1_000)
    return sorted(taken)[CALLS_PER_ROUND // 2]
