"""(a) The guarded transition through the application's pool, in turns with pgbench on the same function."""

from __future__ import annotations

from boardreadyops.bench.pgbench import CLIENTS, Load
from boardreadyops.bench.pool_load import MOVES, run_pool_load
from boardreadyops.bench.results import Result, compared
from boardreadyops.bench.rounds import Bench, require_all_did_something
from boardreadyops.bench.seed import Amount, seed_runs, seed_workflow_runs, seed_world

DATABASE = "bench_transitions"
RUNS_PER_CLIENT_SECOND = 250
EVENTS_PER_TURN = 9  # six of the attempt, three of the run
TARGET_RATIO = 0.75


def _stride(bench: Bench) -> int:
    return RUNS_PER_CLIENT_SECOND * bench.scale.seconds


async def prepare(bench: Bench) -> None:
    """Fresh workflow runs, enough for every round."""
    rounds = 2 * (bench.scale.rounds + 1)
    amount = Amount(0, rounds * CLIENTS * _stride(bench) + 1)
    await bench.server.create(DATABASE)
    await seed_world(bench.server.owner(DATABASE))
    await seed_runs(bench.server.owner(DATABASE), amount)
    await seed_workflow_runs(bench.server.owner(DATABASE), amount)


async def measure(bench: Bench) -> list[Result]:
    """Pairs in alternating order, so that a slower minute meets both."""
    stride = _stride(bench)

    async def through_pool(slice_number: int) -> Load:
        return await run_pool_load(
            bench.server.logins(DATABASE).app,
            first=slice_number * CLIENTS * stride,
            stride=stride,
            seconds=bench.scale.seconds,
        )

    async def through_pgbench(slice_number: int) -> Load:
        return await bench.load(DATABASE, "load_transition", stride=stride, round_number=slice_number)

    async def pair(number: int) -> tuple[float, float]:
        before = await bench.number(DATABASE, "count_events")
        if number % 2:
            pool, baseline = await through_pool(2 * number), await through_pgbench(2 * number + 1)
        else:
            baseline, pool = await through_pgbench(2 * number + 1), await through_pool(2 * number)
        happened = await bench.number(DATABASE, "count_events") - before
        turns = pool.turns + baseline.turns
        require_all_did_something("transitions", expected=turns * EVENTS_PER_TURN, happened=happened)
        return pool.turns_per_second * len(MOVES), baseline.turns_per_second * len(MOVES)

    pairs = await bench.repeat("guarded transition", pair)
    metric = "guarded transitions through the application's pool, against pgbench"
    return [compared("transition.pool", metric, "1/s", pairs, target=TARGET_RATIO)]
