"""Every interleaving of two calls ends in a legal state, at both isolation levels, and leaves an unbroken history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.model.invariants import always
from tests.model.reading import read_picture
from tests.model.session import EPOCH
from tests.races import claim_pairs, lease_pairs, publication_pairs, ref_pairs, retry_pairs, workflow_pairs
from tests.races.arena import GATES, STAIRS, Arena
from tests.races.pairs import PAIRS, Pair
from tests.races.scheduler import Gate, Isolation, Script, Trace
from tests.sql.conftest import assert_history_holds


def _gates(scripts: Sequence[Script], isolation: Isolation) -> tuple[Gate | None, ...]:
    """What a pair is driven through. Among many transactions a gate would open hundreds of walks that say the same."""
    if any(len(script.transactions) > 1 for script in scripts):
        return (None,)
    return (None, STAIRS, *(GATES if isolation == "read committed" else ()))


@contextmanager
def _told(trace: Trace, gate: Gate | None) -> Iterator[None]:
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{gate.name if gate else 'no gate'}: {trace}: {error}") from error


async def _ends(arena: Arena, pair: Pair, isolation: Isolation) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}

    async def prepare() -> Sequence[Script]:
        await arena.empty()
        return await pair.prepare(arena)

    for gate in _gates(await prepare(), isolation):
        async for trace in arena.scheduler.explore(prepare, isolation, gate):
            with _told(trace, gate):
                assert trace.deadlocks == 0
                await assert_history_holds(arena.owner)
                assert always((await read_picture(arena.owner, EPOCH)).state) == []
            end = await arena.end(*pair.tells)
            found.setdefault((*trace.outcomes, end), []).append(
                f"{gate.name if gate else 'no gate'}: {trace}"
            )
            if gate is not None and trace.blocked == 0:
                break  # nobody comes by these rows
    return found


ROOMS = (lease_pairs, claim_pairs, ref_pairs, retry_pairs, workflow_pairs, publication_pairs)
RACES = [
    pytest.param(pair, isolation, id=f"{pair.name}, {isolation}")
    for pair in PAIRS
    for isolation in pair.isolations
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("pair", "isolation"), RACES)
async def test_every_interleaving_ends_in_a_legal_state(
    arena: Arena, pair: Pair, isolation: Isolation
) -> None:
    found = await _ends(arena, pair, isolation)
    assert {end: walks for end, walks in found.items() if end not in pair.legal} == {}
    if isolation == "read committed":  # a snapshot that is taken early rules some ends out
        assert set(found) == pair.legal


def test_every_room_of_races_is_open() -> None:
    counted = [sum(pair.prepare.__module__ == room.__name__ for pair in PAIRS) for room in ROOMS]
    assert all(counted)
    assert sum(counted) == len(PAIRS) == len({pair.name for pair in PAIRS})
