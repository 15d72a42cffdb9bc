"""How long and how often: what every measurement of one run shares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from boardreadyops.bench.pgbench import CLIENTS, BenchFailed, Load, run_pgbench
from boardreadyops.bench.results import Result
from boardreadyops.bench.seed import Amount, statement
from boardreadyops.bench.server import BenchServer
from boardreadyops.db.pool import connect

Sample = TypeVar("Sample")


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of one bench run; `rounds` are medians' samples, a warm-up apart."""

    rounds: int
    seconds: int
    large: Amount
    small: Amount
    claims_per_client: int
    warm_up_claims: int  # of those, not in the rate
    dead_entries: int


FULL = Scale(7, 2, Amount(2_000_000, 1_000_000), Amount(8_000, 8_000), 950, 250, 600_000)
QUICK = Scale(3, 1, Amount(20_000, 20_000), Amount(8_000, 8_000), 200, 50, 10_000)


@dataclass(frozen=True, slots=True)
class Bench:
    """One bench run: the server, its scale, where to tell about progress, and the random seed of all loads."""

    server: BenchServer
    scale: Scale
    seed: int
    say: Callable[[str], None]

    async def load(
        self,
        database: str,
        name: str,
        *,
        first: int = 0,
        stride: int = 0,
        round_number: int = 0,
        turns_per_client: int | None = None,
        warm_up_turns: int = 0,
    ) -> Load:
        """One round of a pgbench script as the application's login, over rows that no other round touches."""
        return await run_pgbench(
            self.server.programs,
            self.server.logins(database).app,
            name,
            seed=self.seed + round_number,
            variables={"first": first + round_number * CLIENTS * stride, "stride": stride, "turn": 0},
            seconds=None if turns_per_client is not None else self.scale.seconds,
            turns_per_client=turns_per_client,
            warm_up_turns=warm_up_turns,
        )

    async def repeat(self, label: str, sample: Callable[[int], Awaitable[Sample]]) -> list[Sample]:
        """Take `rounds` samples after a warm-up that does not count; round 0 is the warm-up."""
        samples = []
        for number in range(self.scale.rounds + 1):
            self.say(f"{label}: round {number} of {self.scale.rounds}")
            samples.append(await sample(number))
        return samples[1:]

    async def number(self, database: str, name: str) -> int:
        """The one number that a statement of `sql/bench/` answers, read as a superuser."""
        connection = await connect(self.server.owner(database), application_name="boardreadyops bench")
        try:
            return int(await connection.fetchval(statement(name)))
        finally:
            await connection.close()


def require_all_did_something(label: str, *, expected: int, happened: int) -> None:
    """A rate of calls that change nothing would be a lie: BenchFailed when rows and calls do not agree."""
    if expected != happened:
        raise BenchFailed(f"{label}: {expected} changes were asked for and {happened} happened")


Measure = Callable[[Bench], Awaitable[list[Result]]]
