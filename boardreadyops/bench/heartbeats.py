"""(d) Heartbeats that tell nothing new, and such that tell a later stage: rate, and bytes of write-ahead log each."""

from __future__ import annotations

from dataclasses import dataclass

from boardreadyops.bench.pgbench import CLIENTS
from boardreadyops.bench.results import Result, measured
from boardreadyops.bench.rounds import Bench, require_all_did_something
from boardreadyops.bench.seed import Amount, seed_leases, seed_runs, seed_world, statement
from boardreadyops.db.pool import Connection, connect

BEATING = "bench_beating"
STAGES = "bench_stages"
LEASES = 8_000  # load_heartbeat.sql names them
STAGED_PER_CLIENT_SECOND = 250
BEATS_PER_TURN = 4
EVENTS_PER_TURN = 2
TARGET_RATE = 4_000
TARGET_BYTES = 400


@dataclass(frozen=True, slots=True)
class Written:
    """One round of a load: calls a second, and bytes of write-ahead log for each call; full-page images apart."""

    rate: float
    bytes_each: float
    image_bytes_each: float


async def prepare(bench: Bench) -> None:
    """Live leases: some for beats alone, others to be driven to their last stage."""
    beating = Amount(0, LEASES)
    staged = Amount(0, (bench.scale.rounds + 1) * CLIENTS * _stride(bench) + 1)
    for database, amount, stage in ((BEATING, beating, "running"), (STAGES, staged, "claimed")):
        await bench.server.create(database)
        owner = bench.server.owner(database)
        await seed_world(owner)
        await seed_runs(owner, amount)
        await seed_leases(owner, amount, stage=stage)


async def measure(bench: Bench) -> list[Result]:
    """Beats as they come every few seconds, then those that tell a new stage."""
    unchanged = await _rounds(bench, BEATING, "load_heartbeat", calls_per_turn=1, rows_per_turn=0)
    staged = await _rounds(
        bench, STAGES, "load_heartbeat_stage", calls_per_turn=BEATS_PER_TURN, rows_per_turn=EVENTS_PER_TURN
    )
    rates = [one.rate for one in unchanged]
    sizes = [one.bytes_each for one in unchanged]
    return [
        measured("heartbeat.unchanged", "heartbeats without news", "1/s", rates, target=TARGET_RATE),
        measured(
            "heartbeat.unchanged_wal", "log of one, full-page images apart", "bytes", sizes,
            target=TARGET_BYTES, bound="at_most",
        ),
        measured(
            "heartbeat.unchanged_images", "full-page images of one", "bytes",
            [one.image_bytes_each for one in unchanged],
        ),
        measured("heartbeat.unchanged_rows", "permanent rows of all of them", "rows", [0], target=0, bound="at_most"),
        measured("heartbeat.stage", "heartbeats with a later stage", "1/s", [one.rate for one in staged]),
        measured(
            "heartbeat.stage_wal", "log of one, full-page images apart", "bytes",
            [one.bytes_each for one in staged],
        ),
    ]  # fmt: skip


def _stride(bench: Bench) -> int:
    return STAGED_PER_CLIENT_SECOND * bench.scale.seconds


async def _rounds(
    bench: Bench, database: str, name: str, *, calls_per_turn: int, rows_per_turn: int
) -> list[Written]:
    connection = await connect(bench.server.owner(database), application_name="boardreadyops bench")

    async def one(number: int) -> Written:
        rows = await bench.number(database, "permanent_rows")
        begin = await _position(connection)
        load = await bench.load(database, name, stride=_stride(bench), round_number=number)
        end = await _position(connection)
        happened = await bench.number(database, "permanent_rows") - rows
        require_all_did_something(name, expected=rows_per_turn * load.turns, happened=happened)
        written = await connection.fetchrow(statement("wal_written"), begin, end)
        assert written is not None
        calls = load.turns * calls_per_turn
        return Written(
            load.turns_per_second * calls_per_turn,
            written["record_bytes"] / calls,
            written["image_bytes"] / calls,
        )

    try:
        return await bench.repeat(name.removeprefix("load_").replace("_", " with a later "), one)
    finally:
        await connection.close()


async def _position(connection: Connection) -> str:
    position: str = await connection.fetchval(statement("wal_position"))
    return position
