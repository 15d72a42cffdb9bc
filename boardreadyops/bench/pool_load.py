"""The same moves as `load_transition.sql`, made as the application makes them: one process, uvloop, its own pool.

Run as a program: one line of JSON on standard input says what to do, one line on standard output what was done.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
from dataclasses import dataclass
from uuid import UUID

import uvloop

from boardreadyops.bench.pgbench import CLIENTS, BenchFailed, Load
from boardreadyops.config import Secret
from boardreadyops.db.pool import Database
from boardreadyops.db.runs import transition_release_run_state

START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Move:
    """One guarded transition: what must hold before, and what comes then."""

    run: str
    run_version: int
    next_run: str | None
    reason: str
    attempt: str
    attempt_version: int
    next_attempt: str


MOVES = (
    Move("queued", 0, None, "check_run_created", "queued", 0, "dispatching"),
    Move("queued", 0, "dispatched", "workflow_dispatched", "dispatching", 1, "dispatched"),
    Move("dispatched", 1, "running", "workflow_reconciled", "dispatched", 2, "in_progress"),
    Move("running", 2, None, "runner_lease_heartbeat", "in_progress", 3, "uploading_artifacts"),
    Move("running", 2, None, "runner_lease_heartbeat", "uploading_artifacts", 4, "reporting"),
    Move("running", 2, "failed", "runner_result_failed", "reporting", 5, "failed"),
)


async def run_pool_load(dsn: Secret, *, first: int, stride: int, seconds: float) -> Load:
    """Run this module in a process of its own; BenchFailed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    asked = {"dsn": dsn.reveal(), "first": first, "stride": stride, "seconds": seconds}
    async with asyncio.timeout(START_SECONDS + seconds):
        answer, _ = await process.communicate(json.dumps(asked).encode() + b"\n")
    if process.returncode != 0:
        raise BenchFailed("the load through the application's pool failed; its error is above")
    return Load(**json.loads(answer))


async def _load(dsn: Secret, first: int, stride: int, seconds: float) -> Load:
    database = await Database.open(dsn, max_connections=CLIENTS, application_name="boardreadyops bench")
    try:
        await asyncio.gather(*(_warm_up(database) for _ in range(CLIENTS)))
        begin = time.perf_counter()
        turns = await asyncio.gather(
            *(_client(database, first + client * stride, begin + seconds) for client in range(CLIENTS))
        )
        return Load(sum(turns), sum(turns) / (time.perf_counter() - begin))
    finally:
        await database.close()


async def _warm_up(database: Database) -> None:
    """Connect and plan outside the measured time, as pgbench does with its connections."""
    async with database.connection() as connection:
        await transition_release_run_state(
            connection,
            release_run_id=UUID(int=0),
            expected_run_status="queued",
            expected_run_version=0,
            expected_execution_attempt_id=None,
            next_run_status="running",
            reason_code="warm_up",
        )


async def _client(database: Database, first: int, end: float) -> int:
    turn = 0
    while time.perf_counter() < end:
        turn += 1
        run_id, attempt_id = _id("run", first + turn), _id("attempt", first + turn)
        for move in MOVES:
            async with database.connection() as connection:
                answer = await transition_release_run_state(
                    connection,
                    release_run_id=run_id,
                    expected_run_status=move.run,
                    expected_run_version=move.run_version,
                    expected_execution_attempt_id=attempt_id,
                    next_run_status=move.next_run,
                    reason_code=move.reason,
                    expected_attempt_status=move.attempt,
                    expected_attempt_version=move.attempt_version,
                    next_attempt_status=move.next_attempt,
                )
            if answer.outcome != "applied":
                raise BenchFailed(f"a move was {answer.outcome}: the seeded runs are used up")
    return turn


def _id(kind: str, number: int) -> UUID:
    """The id that the seeding files make of a number."""
    return UUID(hashlib.md5(f"{kind}{number}".encode(), usedforsecurity=False).hexdigest())


def main() -> None:
    """Read what to do, do it, say what was done."""
    asked = json.loads(sys.stdin.readline())
    load = uvloop.run(_load(Secret(asked["dsn"]), asked["first"], asked["stride"], asked["seconds"]))
    sys.stdout.write(json.dumps({"turns": load.turns, "turns_per_second": load.turns_per_second}) + "\n")


if __name__ == "__main__":
    main()
