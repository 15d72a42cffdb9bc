"""(b) Enqueue on distinct refs and on one; (f) the supersede storm."""

from __future__ import annotations

from boardreadyops.bench.results import Result, measured
from boardreadyops.bench.rounds import Bench, require_all_did_something
from boardreadyops.bench.seed import seed_world

DATABASE = "bench_enqueues"
STRIDE = 10_000  # room for a client's commits: nothing is seeded, so it costs nothing
TARGET_DISTINCT = 2_500
TARGET_ONE_REF = 600


async def prepare(bench: Bench) -> None:
    """Tenants without a run."""
    await bench.server.create(DATABASE)
    await seed_world(bench.server.owner(DATABASE))


async def measure(bench: Bench) -> list[Result]:
    """Rates of enqueues that each make a run."""
    distinct = await _rates(bench, "enqueue on distinct refs", "load_enqueue_distinct", first=10_000)
    one_ref = await _rates(bench, "enqueue on one ref", "load_enqueue_one_ref", first=800_000_000)
    return [
        measured(
            "enqueue.distinct_refs", "enqueues, each on a new ref", "1/s", distinct, target=TARGET_DISTINCT
        ),
        measured("enqueue.one_ref", "enqueues, all on one ref", "1/s", one_ref, target=TARGET_ONE_REF),
    ]


async def measure_storm(bench: Bench) -> list[Result]:
    """What a ref costs after thousands of commits, and a thousand refs at once."""
    many = await _rates(bench, "supersede storm", "load_enqueue_storm", first=700_000_000)
    deep = await _rates(bench, "supersede storm on one ref", "load_enqueue_one_ref", first=900_000_000)
    return [
        measured("supersede.thousand_refs", "new heads on a thousand refs", "1/s", many),
        measured("supersede.one_deep_ref", "new heads on a ref of thousands of commits", "1/s", deep),
    ]


async def _rates(bench: Bench, label: str, name: str, *, first: int) -> list[float]:
    async def one(number: int) -> float:
        before = await bench.number(DATABASE, "count_runs")
        load = await bench.load(DATABASE, name, first=first, stride=STRIDE, round_number=number)
        happened = await bench.number(DATABASE, "count_runs") - before
        require_all_did_something(label, expected=load.turns, happened=happened)
        return load.turns_per_second

    return await bench.repeat(label, one)
