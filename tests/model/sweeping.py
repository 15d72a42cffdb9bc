"""Deadlines (§10): a run whose clock has passed ends as timed_out with its own reason."""

from __future__ import annotations

from tests.model.moving import end_run
from tests.model.observing import apply_level_rule, needs_asking
from tests.model.rows import Run, RunKey, State


def overdue_reason(run: Run) -> str:
    """Which of the four clocks this run stands under."""
    match run.status:
        case "queued" if run.approval == "waiting":
            return "approval_deadline_exceeded"
        case "queued":
            return "queue_deadline_exceeded"
        case "dispatched":
            return "start_deadline_exceeded"
        case _:
            return "run_deadline_exceeded"


def sweep_deadlines(state: State, now: int) -> list[RunKey]:
    """End what is due; again: nothing."""
    due = [run for run in state.runs.values() if run.due_at is not None and run.due_at <= now]
    for run in due:
        end_run(state, run, "timed_out", overdue_reason(run), now)
    return [run.key for run in due]


def levels_due(state: State) -> set[RunKey]:
    """The heads that the level rule would ask again now."""
    heads = {RunKey(*ref.key, ref.head_sha): ref for ref in state.refs.values()}
    return {key for key, ref in heads.items() if needs_asking(state, ref)}


def sweep_levels(state: State, now: int) -> list[RunKey]:
    """The level rule for every ref: what ended for no reason of its own is asked again."""
    due = sorted(levels_due(state))
    for key in due:
        apply_level_rule(state, key.of_ref, now)
    return due
