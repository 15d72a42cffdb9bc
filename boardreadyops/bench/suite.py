"""All measurements of the guarded functions, by the letters of `docs/performance.md`, in one run on one server."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from boardreadyops.bench import claims, enqueues, heartbeats, sweeps, transitions
from boardreadyops.bench.pgbench import BenchFailed
from boardreadyops.bench.results import Result, document, machine
from boardreadyops.bench.rounds import FULL, QUICK, Bench, Measure
from boardreadyops.bench.server import bench_server

Prepare = Callable[[Bench], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Part:
    """One letter: the rows it needs, made once however many parts need them, and how it measures."""

    title: str
    prepare: tuple[Prepare, ...]
    measure: Measure


PARTS: dict[str, Part] = {
    "a": Part("guarded transition through the pool", (transitions.prepare,), transitions.measure),
    "b": Part("enqueue", (enqueues.prepare,), enqueues.measure),
    # Before the claims, which leave something due.
    "e": Part("sweeps with nothing due", (claims.prepare_large,), sweeps.measure),
    "c": Part("claim", (claims.prepare_small, claims.prepare_large), claims.measure),
    "d": Part("heartbeat", (heartbeats.prepare,), heartbeats.measure),
    "f": Part("supersede storm", (enqueues.prepare,), enqueues.measure_storm),
    "g": Part(
        "claim beside an old transaction", (claims.prepare_large, claims.prepare_held), claims.measure_held
    ),
}


async def run_suite(
    only: Collection[str],
    *,
    quick: bool,
    seed: int,
    say: Callable[[str], None],
    tell: Callable[[Result], None],
) -> tuple[dict[str, Any], list[str]]:
    """Measure these parts (none named: all) and answer the JSON document; `tell` gets each result as it is there.

    Beside it: a line for each part that could not be measured; the others are measured all the same. Raises BenchFailed
    when the rows cannot be made, EmbeddedPostgresError.
    """
    parts = [part for letter, part in PARTS.items() if letter in only or not only]
    results: list[Result] = []
    failed: list[str] = []
    async with bench_server(say) as server:
        bench = Bench(server, QUICK if quick else FULL, seed, say)
        await server.make_plain()
        wanted = {prepare for part in parts for prepare in part.prepare}
        for prepare in (prepare for part in PARTS.values() for prepare in part.prepare):
            if prepare in wanted:
                wanted.remove(prepare)
                begin = time.monotonic()
                say(f"seeding: {prepare.__module__.rpartition('.')[2]}")
                await prepare(bench)
                say(f"seeded in {time.monotonic() - begin:.0f} s")
        await server.restart()
        about = machine(server.version)
        for part in parts:
            try:
                measured = await part.measure(bench)
            except BenchFailed as failure:
                failed.append(f"{part.title}: {failure}")
                continue
            for result in measured:
                results.append(result)
                tell(result)
    return document(seed, about, results), failed
