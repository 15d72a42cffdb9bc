"""Drives scripts on real connections through every order in which their steps can happen.

A step is one round trip: BEGIN, a call, COMMIT. After each step the scheduler waits until every session has answered
or is blocked by one that has not been told to go on, which PostgreSQL itself says (`pg_blocking_pids`). The order of the
steps is a walk through a tree whose branches are the sessions that can move; `explore` takes every walk once. A blocked
session is no branch until it is released, so that no order is tried twice under two names.

A gate is one session more. It holds rows from before the first step and so stops calls inside functions: `one` class of
rows, released at every moment there is; or the `stairs`, all classes at once, released one after the other in the order of
locks once both calls have begun, so that they meet at every lock on their way.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import asyncpg

from boardreadyops.db.pool import Connection

Isolation = Literal["read committed", "repeatable read"]
ISOLATIONS: tuple[Isolation, ...] = ("read committed", "repeatable read")
Call: TypeAlias = Callable[[Connection], Awaitable[str]]
Step: TypeAlias = Callable[[Connection], Awaitable[str | None]]

LOOK_SECONDS = 0.002
MAX_LOOKS = 3_000  # six seconds: far beyond any call and any deadlock_timeout of a test
REPEATED = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)  # what `run_transaction` repeats


class Stuck(AssertionError):
    """A session neither answers nor is blocked by one that could release it."""


@dataclass(frozen=True, slots=True)
class Script:
    """What one side does: transactions of one or more calls. The last word of each call is its outcome."""

    name: str
    transactions: tuple[tuple[Call, ...], ...]


def script(name: str, *calls: Call) -> Script:
    """Each call in a transaction of its own, as the program makes them."""
    return Script(name, tuple((call,) for call in calls))


@dataclass(frozen=True, slots=True)
class Gate:
    """Rows held from the beginning: SQL that locks them, in reverse order of release."""

    name: str
    holds: tuple[str, ...]
    waits_for_both: bool = False


@dataclass(slots=True)
class Trace:
    """One walk: what was tried in which order, and what came of it."""

    taken: list[int] = field(default_factory=list)
    could: list[tuple[int, ...]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    outcomes: tuple[str, ...] = ()
    blocked: int = 0
    serialization_failures: int = 0
    deadlocks: int = 0

    def __str__(self) -> str:
        return " | ".join(self.log)


@dataclass(slots=True)
class Session:
    """One side on its connection."""

    name: str
    connection: Connection
    pid: int
    transactions: list[list[tuple[str, Step]]]
    place: tuple[int, int] = (0, 0)
    outcomes: list[str] = field(default_factory=list)
    task: asyncio.Task[str | None] | None = None
    doing: str = ""
    repeats: int = 0

    @property
    def over(self) -> bool:
        return self.place[0] >= len(self.transactions)

    @property
    def begun(self) -> bool:
        return self.place != (0, 0) or self.task is not None

    @property
    def inside(self) -> bool:
        """Whether it has a transaction open, and so may hold what another waits for."""
        return self.place[1] > 0

    def go(self) -> None:
        self.doing, step = self.transactions[self.place[0]][self.place[1]]
        self.task = asyncio.create_task(self._do(step))

    async def _do(self, step: Step) -> str | None:
        try:
            return await step(self.connection)
        except BaseException:
            await self.connection.execute("ROLLBACK")
            raise

    def land(self, trace: Trace, max_repeats: int) -> None:
        """Take the answer and stand before the next step; after a failure that is repeated, before the first again."""
        assert self.task is not None
        task, self.task = self.task, None
        transaction, step = self.place
        try:
            answer = task.result()
        except REPEATED as failure:
            deadlock = isinstance(failure, asyncpg.DeadlockDetectedError)
            trace.deadlocks += deadlock
            trace.serialization_failures += not deadlock
            trace.log.append(f"{self.name}: {self.doing} = {failure.sqlstate}")
            self.repeats += 1
            assert self.repeats <= max_repeats, f"{self.name} failed again: {trace}"
            self.outcomes = self.outcomes[: sum(len(done) - 2 for done in self.transactions[:transaction])]
            self.place = (transaction, 0)
            return
        except asyncpg.PostgresError as failure:
            raise AssertionError(f"{self.name}: {self.doing} raised {failure!r} after {trace}") from failure
        if answer is not None:
            self.outcomes.append(answer)
        trace.log.append(f"{self.name}: {self.doing}" + (f" = {answer}" if answer is not None else ""))
        last = step + 1 == len(self.transactions[transaction])
        self.place = (transaction + 1, 0) if last else (transaction, step + 1)


def _steps(transaction: Sequence[Call], isolation: Isolation) -> list[tuple[str, Step]]:
    async def begin(connection: Connection) -> None:
        await connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        await connection.fetchval("SELECT 1")  # takes the snapshot of a repeatable read

    async def commit(connection: Connection) -> None:
        await connection.execute("COMMIT")

    return [("begin", begin), *(("call", call) for call in transaction), ("commit", commit)]


def _release(savepoint: str, *, last: bool) -> Step:
    async def release(connection: Connection) -> None:
        await connection.execute("ROLLBACK" if last else f"ROLLBACK TO SAVEPOINT {savepoint}")

    return release


@dataclass(slots=True)
class Scheduler:
    """The connections: one per side, one for the gate, one to look at who blocks whom."""

    sides: Sequence[Connection]
    gate: Connection
    watch: Connection

    async def explore(
        self,
        prepare: Callable[[], Awaitable[Sequence[Script]]],
        isolation: Isolation,
        gate: Gate | None = None,
    ) -> AsyncIterator[Trace]:
        """Every walk once; `prepare` makes each a situation of its own. The situation is as the walk left it."""
        unexplored: list[list[int]] = [[]]
        while unexplored:
            given = unexplored.pop()
            trace = await self._walk(await prepare(), isolation, gate, given)
            for depth in range(len(given), len(trace.taken)):
                unexplored.extend(
                    [*trace.taken[:depth], other]
                    for other in trace.could[depth]
                    if other != trace.taken[depth]
                )
            yield trace

    async def _walk(
        self, scripts: Sequence[Script], isolation: Isolation, gate: Gate | None, given: Sequence[int]
    ) -> Trace:
        trace = Trace()
        sessions = [
            Session(
                script.name,
                connection,
                connection.get_server_pid(),
                [_steps(transaction, isolation) for transaction in script.transactions],
            )
            for script, connection in zip(scripts, self.sides, strict=False)
        ]
        if gate is not None:
            sessions.append(await self._hold(gate))
        try:
            while could := self._could(sessions, gate):
                depth = len(trace.taken)
                chosen = given[depth] if depth < len(given) else could[0]
                assert chosen in could, f"the same walk went another way: {trace}"
                trace.could.append(could)
                trace.taken.append(chosen)
                await self._move(sessions[chosen], sessions, trace, isolation, gate)
            assert all(session.over for session in sessions), f"some wait for ever: {trace}"
        finally:
            for session in sessions:
                await _undo(session)
        trace.outcomes = tuple("+".join(session.outcomes) for session in sessions[: len(scripts)])
        return trace

    async def _hold(self, gate: Gate) -> Session:
        await self.gate.execute("BEGIN")
        for number, sql in enumerate(gate.holds):
            await self.gate.execute(f"SAVEPOINT held_{number}")
            await self.gate.execute(sql)
        order = reversed(range(len(gate.holds)))
        releases = [(f"release {number}", _release(f"held_{number}", last=number == 0)) for number in order]
        holding = Session(
            gate.name,
            self.gate,
            self.gate.get_server_pid(),
            [[("hold", _release("", last=True)), *releases]],
        )
        holding.place = (0, 1)
        return holding

    @staticmethod
    def _could(sessions: Sequence[Session], gate: Gate | None) -> tuple[int, ...]:
        able = [
            number for number, session in enumerate(sessions) if session.task is None and not session.over
        ]
        if gate is None:
            return tuple(able)
        *sides, holder = sessions
        wanted = any(side.task is not None for side in sides) or all(side.over for side in sides)
        if not wanted or (gate.waits_for_both and not all(side.begun for side in sides)):
            able = [number for number in able if sessions[number] is not holder]
        return tuple(able)

    async def _move(
        self,
        session: Session,
        sessions: Sequence[Session],
        trace: Trace,
        isolation: Isolation,
        gate: Gate | None,
    ) -> None:
        # The BEGIN of a READ COMMITTED transaction fixes nothing, so it is no step of its own. Nor is that of a REPEATABLE
        # READ one behind a gate, which is there to look inside the calls, or among many transactions.
        few = all(len(other.transactions) == 1 for other in sessions)
        alone = isolation == "repeatable read" and gate is None and few
        at_begin = session.place[1] == 0
        session.go()
        await self._settle(sessions, trace)
        if at_begin and not alone:
            session.go()
            await self._settle(sessions, trace)

    async def _settle(self, sessions: Sequence[Session], trace: Trace) -> None:
        for _ in range(MAX_LOOKS):
            flying = {session.pid: session for session in sessions if session.task is not None}
            tasks = [session.task for session in flying.values() if session.task is not None]
            if not tasks:
                return
            await asyncio.wait(tasks, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not any(task.done() for task in tasks):
                rows = await self.watch.fetch(
                    "SELECT pid, pg_blocking_pids(pid) AS by FROM unnest($1::integer[]) AS pid", list(flying)
                )
                held = {session.pid for session in sessions if session.task is None and session.inside}
                if _all_held({row["pid"]: set(row["by"]) for row in rows}, held) and not any(
                    task.done() for task in tasks
                ):
                    trace.blocked += len(tasks)
                    return
            for session in flying.values():
                if session.task is not None and session.task.done():
                    session.land(
                        trace, sum(len(other.transactions) for other in sessions if other is not session)
                    )
        raise Stuck(str(trace))


def _all_held(blockers: dict[int, set[int]], idle: set[int]) -> bool:
    """Whether every one waits, over others or not, for a session that stands still with a transaction open."""
    held = set(idle)
    while True:
        more = {pid for pid, by in blockers.items() if pid not in held and by & held}
        if not more:
            return set(blockers) <= held
        held |= more


async def _undo(session: Session) -> None:
    if session.task is not None:
        session.task.cancel()
        await asyncio.gather(session.task, return_exceptions=True)
    if session.connection.is_in_transaction():
        await session.connection.execute("ROLLBACK")
