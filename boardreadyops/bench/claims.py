"""(c) The claim with a small and a huge queue; (g) the same while an old transaction keeps every dead row."""

from __future__ import annotations

from boardreadyops.bench.pgbench import CLIENTS
from boardreadyops.bench.results import Result, compared, measured
from boardreadyops.bench.rounds import Bench, require_all_did_something
from boardreadyops.bench.seed import seed_dead_entries, seed_runs, seed_world, statement
from boardreadyops.db.pool import connect

SMALL = "bench_small"  # a template: every round gets a copy, as the queue must not run dry
COPY = "bench_small_copy"
LARGE = "bench_large"
HELD = "bench_held"
TARGET_RATE = 2_000
TARGET_LARGE_RATIO = 0.9
TARGET_HELD_RATIO = 0.95


async def prepare_large(bench: Bench) -> None:
    """A million queued beside two million finished."""
    amount = bench.scale.large
    await bench.server.create(LARGE)
    await seed_world(bench.server.owner(LARGE))
    await seed_runs(bench.server.owner(LARGE), amount)


async def prepare_small(bench: Bench) -> None:
    """Eight thousand queued beside as many finished."""
    await bench.server.create(SMALL)
    await seed_world(bench.server.owner(SMALL))
    await seed_runs(bench.server.owner(SMALL), bench.scale.small)


async def prepare_held(bench: Bench) -> None:
    """The same as the large one."""
    await bench.server.create(HELD, template=LARGE)


async def measure(bench: Bench) -> list[Result]:
    """Small and large in turns."""

    async def pair(number: int) -> tuple[float, float]:
        await bench.server.create(COPY, template=SMALL)
        try:
            small = await _claim_rate(bench, COPY, number)
        finally:
            await bench.server.drop(COPY)
        return await _claim_rate(bench, LARGE, number), small

    pairs = await bench.repeat("claim", pair)
    small = [baseline for _, baseline in pairs]
    metric = f"claims with {bench.scale.large.queued:,} queued beside {bench.scale.large.finished:,} finished"
    return [
        measured("claim.small_queue", "claims with 8,000 queued", "1/s", small, target=TARGET_RATE),
        compared("claim.large_queue", metric, "1/s", pairs, target=TARGET_LARGE_RATIO),
    ]


async def measure_held(bench: Bench) -> list[Result]:
    """With and without an old snapshot, in turns; the dead entries are made while the snapshot is held."""
    holder = await connect(bench.server.owner(HELD), application_name="boardreadyops bench holder")
    try:
        async with holder.transaction(isolation="repeatable_read"):
            await holder.execute(statement("hold_snapshot"))
            bench.say(f"claim beside an old transaction: making {bench.scale.dead_entries:,} dead entries")
            await seed_dead_entries(bench.server.owner(HELD), bench.scale.dead_entries)

            async def pair(number: int) -> tuple[float, float]:
                free = await _claim_rate(bench, LARGE, number)
                return await _claim_rate(bench, HELD, number), free

            pairs = await bench.repeat("claim beside an old transaction", pair)
    finally:
        await holder.close()
    metric = f"claims while an old transaction keeps {bench.scale.dead_entries:,} dead queue entries"
    return [compared("claim.old_transaction", metric, "1/s", pairs, target=TARGET_HELD_RATIO)]


async def _claim_rate(bench: Bench, database: str, number: int) -> float:
    before = await bench.number(database, "count_live_leases")
    load = await bench.load(
        database,
        "load_claim",
        round_number=number,
        turns_per_client=bench.scale.claims_per_client,
        warm_up_turns=bench.scale.warm_up_claims,
    )
    happened = await bench.number(database, "count_live_leases") - before
    require_all_did_something("claims", expected=bench.scale.claims_per_client * CLIENTS, happened=happened)
    return load.turns_per_second
