"""Replays the history through the model's edges, those of named functions included, and says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.model.edges import (
    ATTEMPT_EDGES,
    RUN_EDGES,
    attempt_edge_of_named_function,
    reason_is_legal,
    run_edge_of_named_function,
)
from tests.model.rows import AttemptKey, Event, RunKey, State

ATTEMPT_STARTS = frozenset({"queued", "in_progress"})


@dataclass(slots=True)
class Replayed:
    """What the events alone say about each entity, and every fault found on the way."""

    entities: dict[RunKey | AttemptKey, tuple[str, int]]
    problems: list[str]


def replay(events: Iterable[Event], *, prefix_may_be_gone: bool = False) -> Replayed:
    """Walk the events in the order of their ids; retention may have dropped the beginning of a chain."""
    replayed = Replayed({}, [])
    clocks: dict[RunKey, int] = {}
    for event in events:
        for problem in _faults(event, replayed.entities.get(event.entity), prefix_may_be_gone):
            replayed.problems.append(f"{event}: {problem}")
        if event.occurred_at < clocks.get(event.run, event.occurred_at):
            replayed.problems.append(f"{event}: earlier than the event before it")
        clocks[event.run] = event.occurred_at
        replayed.entities[event.entity] = (event.to_status, event.to_version)
    return replayed


def _faults(event: Event, before: tuple[str, int] | None, prefix_may_be_gone: bool) -> Iterable[str]:
    is_run = isinstance(event.entity, RunKey)
    if event.to_version != event.from_version + 1:
        yield "the version did not rise by one"
    if before is not None and before != (event.from_status, event.from_version):
        yield f"the chain is broken after {before}"
    if before is None and not prefix_may_be_gone:
        if event.from_version != 0:
            yield "the chain does not begin at version 0"
        if event.from_status not in ({"queued"} if is_run else ATTEMPT_STARTS):
            yield "no entity begins in this state"
    if not reason_is_legal(event.reason_code):
        yield "the reason code is not legal"
    edges, named = (
        (RUN_EDGES, run_edge_of_named_function) if is_run else (ATTEMPT_EDGES, attempt_edge_of_named_function)
    )
    start, end = event.from_status, event.to_status
    if end not in edges.get(start, ()) and not named(start, end, event.reason_code):
        yield "no such edge for this reason"
    if is_run and end == "completed" and not event.reason_code.startswith("runner_result_"):
        yield "only a result completes a run"


def disagreements(state: State, *, prefix_may_be_gone: bool = False) -> list[str]:
    """Replay a state's events and compare what they say with the rows: status and version of every entity."""
    replayed = replay(state.events, prefix_may_be_gone=prefix_may_be_gone)
    problems = list(replayed.problems)
    entities: dict[RunKey | AttemptKey, tuple[str, int]] = {
        run.key: (run.status, run.version) for run in state.runs.values()
    }
    entities |= {attempt.key: (attempt.status, attempt.version) for attempt in state.attempts.values()}
    for entity, row in entities.items():
        said = replayed.entities.get(entity)
        if said is None and row[1] != 0 and not prefix_may_be_gone:
            problems.append(f"{entity}: version {row[1]} without an event")
        if said is None and row[1] == 0 and row[0] not in ATTEMPT_STARTS:
            problems.append(f"{entity}: inserted as {row[0]}")
        if said is not None and said != row:
            problems.append(f"{entity}: the row says {row}, its events say {said}")
    problems += [f"{entity}: events without a row" for entity in replayed.entities if entity not in entities]
    return problems
