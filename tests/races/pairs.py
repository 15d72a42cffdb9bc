"""What a race is: a situation, the calls that meet in it, and every way it may end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from boardreadyops.db.leases import LeaseGrant
from tests.races import calls
from tests.races.arena import Arena
from tests.races.scheduler import ISOLATIONS, Isolation, Script

Situation = Callable[[Arena], Awaitable[Sequence[Script]]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A race: every (outcome, outcome, end) that may come of it; nothing else may, and all of it does.

    `tells` names what else than runs, attempts and leases its ends are told apart by (see `Arena.end`).
    """

    name: str
    prepare: Situation
    legal: frozenset[tuple[str, ...]]
    tells: tuple[str, ...]
    isolations: tuple[Isolation, ...]


PAIRS: list[Pair] = []


def race(
    name: str,
    *legal: tuple[str, ...],
    tells: tuple[str, ...] = (),
    isolations: tuple[Isolation, ...] = ISOLATIONS,
) -> Callable[[Situation], Situation]:
    """Add a pair: the function that is decorated prepares the situation and says what meets in it."""

    def registered(prepare: Situation) -> Situation:
        PAIRS.append(Pair(name, prepare, frozenset(legal), tells, isolations))
        return prepare

    return registered


async def timed_out(arena: Arena) -> LeaseGrant:
    grant = await arena.leased()
    await arena.late()
    await calls.time_out()(arena.app)
    return grant
