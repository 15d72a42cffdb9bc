"""The scheduler itself: it takes every order once, sees who is blocked, and hides no failure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from boardreadyops.db.pool import Connection
from tests.races.arena import Arena
from tests.races.scheduler import Call, Gate, Isolation, Script, Trace, script

pytestmark = pytest.mark.asyncio(loop_scope="module")


def add(*numbers: int) -> tuple[Call, ...]:
    """Raises these counters, one statement each, and answers what they then are."""

    def adding(number: int) -> Call:
        async def call(connection: Connection) -> str:
            return str(
                await connection.fetchval(
                    "UPDATE counters SET value = value + 1 WHERE id = $1 RETURNING value", number
                )
            )

        return call

    return tuple(adding(number) for number in numbers)


def once(name: str, *numbers: int) -> Script:
    """All of them in one transaction."""
    return Script(name, (add(*numbers),))


async def walks(
    arena: Arena, *scripts: Script, isolation: Isolation = "read committed", gate: Gate | None = None
) -> list[Trace]:
    async def prepare() -> Sequence[Script]:
        await arena.owner.execute(
            "CREATE TABLE IF NOT EXISTS counters (id integer PRIMARY KEY, value integer NOT NULL);"
            "GRANT ALL ON counters TO PUBLIC; DELETE FROM counters; INSERT INTO counters VALUES (1, 0), (2, 0)"
        )
        return scripts

    return [trace async for trace in arena.scheduler.explore(prepare, isolation, gate)]


async def test_two_that_do_not_meet_are_taken_through_all_their_orders(arena: Arena) -> None:
    found = await walks(arena, once("one", 1), once("other", 2))
    assert len(found) == len({str(trace) for trace in found}) == 6
    assert {trace.outcomes for trace in found} == {("1", "1")}
    assert not any(trace.blocked for trace in found)
    assert len(await walks(arena, once("one", 1), once("other", 2), isolation="repeatable read")) == 20


async def test_who_is_blocked_waits_and_goes_on_when_the_other_has_committed(arena: Arena) -> None:
    found = await walks(arena, once("one", 1), once("other", 1))
    assert sorted(trace.outcomes for trace in found) == [("1", "2"), ("1", "2"), ("2", "1"), ("2", "1")]
    assert sorted(trace.blocked for trace in found) == [0, 0, 1, 1]


async def test_a_serialization_failure_is_repeated_and_then_succeeds(arena: Arena) -> None:
    found = await walks(arena, once("one", 1), once("other", 1), isolation="repeatable read")
    assert {trace.outcomes for trace in found} == {("1", "2"), ("2", "1")}
    assert {trace.serialization_failures for trace in found} == {0, 1}


async def test_a_deadlock_is_seen_and_repeated(arena: Arena) -> None:
    found = await walks(arena, once("one", 1, 2), once("other", 2, 1))
    assert {trace.deadlocks for trace in found} == {0, 1}
    assert {trace.outcomes for trace in found} == {("1+1", "2+2"), ("2+2", "1+1")}


async def test_three_may_meet(arena: Arena) -> None:
    found = await walks(arena, once("one", 1), once("two", 1), once("three", 1))
    assert {trace.outcomes for trace in found} >= {("1", "2", "3"), ("3", "2", "1")}


async def test_a_script_of_two_transactions_lets_the_other_in_between(arena: Arena) -> None:
    found = await walks(arena, script("one", *add(1, 1)), once("other", 1))
    assert {trace.outcomes for trace in found} == {("1+2", "3"), ("1+3", "2"), ("2+3", "1")}


async def test_any_other_error_fails_the_walk(arena: Arena) -> None:
    async def breaks(connection: Connection) -> str:
        return str(await connection.fetchval("SELECT 1 / 0"))

    with pytest.raises(AssertionError, match="DivisionByZero"):
        await walks(arena, once("one", 1), script("other", breaks))
    assert len(await walks(arena, once("one", 1), once("other", 2))) == 6


async def test_a_gate_stops_calls_on_their_way(arena: Arena) -> None:
    gate = Gate("row", ("SELECT FROM counters WHERE id = 1 FOR UPDATE",))
    found = await walks(arena, once("one", 1), once("other", 2), gate=gate)
    inside = [log for log in map(str, found) if log.startswith("one: begin")]
    assert any(0 < log.index("other: commit") < log.index("one: call") for log in inside)
    assert all(trace.blocked for trace in found if str(trace).startswith("one"))


async def test_on_the_stairs_both_have_begun_before_the_first_step_down(arena: Arena) -> None:
    gate = Gate(
        "stairs",
        ("SELECT FROM counters WHERE id = 2 FOR UPDATE", "SELECT FROM counters WHERE id = 1 FOR UPDATE"),
        waits_for_both=True,
    )
    found = await walks(arena, once("one", 1, 2), once("other", 1, 2), gate=gate)
    assert found
    assert all(trace.blocked >= 2 and trace.deadlocks == 0 for trace in found)
    assert {trace.outcomes for trace in found} == {("1+1", "2+2"), ("2+2", "1+1")}
