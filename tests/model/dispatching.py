"""Actions runs: dispatch, silence, binding, reconciliation (§7, §8)."""

from __future__ import annotations

from dataclasses import replace

from tests.model.moving import (
    ask_again,
    end_run,
    insert_attempt,
    move_attempt,
    move_run,
    plan_dispatch,
    raise_publication,
)
from tests.model.rows import Attempt, AttemptKey, Run, State


def begin(state: State, attempt_key: AttemptKey) -> str:
    """Re-check currency just before the one POST: never for a waiting, superseded or ended attempt."""
    attempt = state.attempts.get(attempt_key)
    if attempt is None:
        return "not_found"
    run = state.runs[attempt_key.run]
    current = run.attempt == attempt_key and not run.terminal and run.approval != "waiting"
    ref = state.refs[run.key.of_ref]
    if not current or attempt.status != "dispatching" or not ref.open or ref.authoritative != run.key:
        return "stale"
    return "applied"


def acknowledge(state: State, attempt_key: AttemptKey, workflow_run_id: int, now: int) -> str:
    """The dispatch was answered: the id is always stored; an ended attempt's workflow is to be cancelled."""
    attempt = state.attempts.get(attempt_key)
    if attempt is None:
        return "not_found"
    if attempt.bound_to is not None and attempt.bound_to[0] != workflow_run_id:
        return "refused"
    attempt = replace(attempt, bound_to=attempt.bound_to or (workflow_run_id, 1))
    state.attempts[attempt_key] = attempt
    if attempt.terminal:
        return "ended"
    _dispatched(state, state.runs[attempt_key.run], attempt, now)
    return "applied"


def _dispatched(state: State, run: Run, attempt: Attempt, now: int) -> None:
    if attempt.status == "dispatching":
        move_attempt(state, attempt, "dispatched", "workflow_dispatched", now)
    if run.status == "queued":
        run = move_run(state, run, "dispatched", "workflow_dispatched", now)
        raise_publication(state, run)


def silent(state: State, attempt_key: AttemptKey, now: int) -> str:
    """Nothing was found for ten minutes: the attempt goes `stale`, a new one is planned, up to the bound."""
    attempt, run = state.attempts[attempt_key], state.runs[attempt_key.run]
    if run.attempt != attempt_key or attempt.status != "dispatching" or attempt.bound_to is not None:
        return "stale"
    run = replace(run, lost_attempts=run.lost_attempts + 1)
    if run.lost_attempts >= state.settings.max_execution_attempts:
        end_run(state, run, "failed", "workflow_dispatch_failed", now)
        return "failed"
    move_attempt(state, attempt, "stale", "workflow_dispatch_failed", now)
    run = move_run(state, run, "queued", "workflow_dispatch_failed", now)
    raise_publication(state, plan_dispatch(state, run))
    return "planned"


def refused(state: State, attempt_key: AttemptKey, now: int) -> str:
    """GitHub refused the dispatch (404, 403, 422): the run fails at once."""
    attempt, run = state.attempts[attempt_key], state.runs[attempt_key.run]
    if run.attempt != attempt_key or attempt.terminal:
        return "stale"
    end_run(state, run, "failed", "workflow_dispatch_failed", now)
    return "failed"


def reconcile_in_progress(
    state: State, attempt_key: AttemptKey, workflow_run_id: int, run_attempt: int, now: int
) -> str:
    """A workflow run is in progress: its attempt follows; a higher `run_attempt` is a retry without dispatch."""
    attempt, run = state.attempts[attempt_key], state.runs[attempt_key.run]
    bound = attempt.bound_to or (workflow_run_id, run_attempt)
    if bound[0] != workflow_run_id:
        return "refused"
    if run_attempt > bound[1]:
        return _run_again(state, run, workflow_run_id, run_attempt, now)
    if run.attempt != attempt_key or run_attempt < bound[1] or attempt.terminal:
        return "stale"
    attempt = replace(attempt, bound_to=bound)
    state.attempts[attempt_key] = attempt
    _dispatched(state, run, attempt, now)
    run, attempt = state.runs[run.key], state.attempts[attempt_key]
    if attempt.status != "dispatched":
        return "existing"
    move_attempt(state, attempt, "in_progress", "workflow_reconciled", now)
    if run.status == "dispatched":
        run = move_run(state, run, "running", "workflow_reconciled", now)
    raise_publication(state, run)
    return "applied"


def _run_again(state: State, run: Run, workflow_run_id: int, run_attempt: int, now: int) -> str:
    if any(attempt.bound_to == (workflow_run_id, run_attempt) for attempt in state.attempts.values()):
        return "existing"
    ref = state.refs[run.key.of_ref]
    if not run.terminal or not ref.open or ref.head_sha != run.key.commit_sha:
        return "refused"
    run = ask_again(state, replace(run, backend="runner"), "retry_requested", now)
    attempt = insert_attempt(state, run, "in_progress", bound_to=(workflow_run_id, run_attempt))
    run = move_run(state, run, "running", "workflow_reconciled", now, attempt=attempt.key, backend="actions")
    raise_publication(state, run)
    return "retried"
