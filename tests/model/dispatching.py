"""Actions runs: dispatch, silence, binding, reconciliation (§7, §8)."""

from __future__ import annotations

from dataclasses import replace

from tests.model import effects
from tests.model.moving import (
    ask_again,
    check_is_shown,
    end_run,
    insert_attempt,
    move_attempt,
    move_run,
    plan_dispatch,
    raise_publication,
)
from tests.model.rows import Attempt, AttemptKey, EffectKey, State

Workflow = tuple[int, int]  # GitHub's run id and run_attempt


def begin(state: State, key: EffectKey, generation: int, now: int) -> str:
    """Re-check currency just before the one POST, and mark it; a marked one is only ever looked up."""
    refused = effects.fenced(state, key, generation)
    if refused is not None:
        return refused
    assert isinstance(key.about, AttemptKey)
    attempt, run = state.attempts[key.about], state.runs[key.about.run]
    if state.effects[key].started:
        return "started"
    if attempt.terminal or run.attempt != attempt.key or run.terminal:  # nothing was sent: nothing to look up
        state.effects[key] = replace(state.effects[key], settled=True, claimed_until=None)
        return "ended"
    state.effects[key] = replace(state.effects[key], started=True)
    return "begun"


def acknowledge(state: State, key: EffectKey, workflow: Workflow | None, now: int) -> str:
    """The dispatch was answered: the id is always stored; an ended attempt's workflow is to be cancelled."""
    effect = state.effects.get(key)
    if effect is None:
        return "not_found"
    assert isinstance(key.about, AttemptKey)
    attempt = state.attempts[key.about]
    if workflow is not None and not bind(state, attempt, workflow, now):
        return "conflict"  # its relay settles it
    state.effects[key] = replace(effect, settled=True, claimed_until=None)
    bound = state.attempts[key.about]
    if bound.terminal:
        return "ended"
    if bound == attempt and attempt.status != "dispatching":
        return "existing"
    _dispatched(state, bound, now)
    return "applied"


def bind(
    state: State, attempt: Attempt, workflow: Workflow, now: int, workflow_status: str = "queued"
) -> bool:
    """Bind whichever comes first; every other workflow run is refused, and cancelled like an ended attempt's."""
    about = (attempt.key.run.repository_id, workflow[0])
    if attempt.bound_to is None and bound_attempt(state, about[0], workflow) is None:
        attempt = replace(attempt, bound_to=workflow)
        state.attempts[attempt.key] = attempt
    refused = attempt.bound_to is None or attempt.bound_to[0] != workflow[0]
    ended = attempt.terminal and attempt.key not in state.results
    if (refused or ended) and workflow_status != "completed":
        effects.want(state, "workflow_cancel", about, now)
    return not refused


def bound_attempt(state: State, repository_id: int, workflow: Workflow) -> Attempt | None:
    """The attempt that this workflow run's attempt is bound to."""
    for attempt in state.attempts.values():
        if attempt.bound_to == workflow and attempt.key.run.repository_id == repository_id:
            return attempt
    return None


def _dispatched(state: State, attempt: Attempt, now: int) -> None:
    run = state.runs[attempt.key.run]
    moves = attempt.status == "dispatching"
    if moves:
        move_attempt(state, attempt, "dispatched", "workflow_dispatched", now)
    if run.status == "queued":
        run = move_run(state, run, "dispatched", "workflow_dispatched", now)
        moves = True
    if moves:
        raise_publication(state, run)


def give_up(state: State, key: EffectKey, generation: int, cause: str, now: int) -> str:
    """Refused: the run fails at once. Silent: the attempt is replaced, up to the bound of attempts."""
    refused = effects.fenced(state, key, generation)
    if refused is not None:
        return refused
    assert isinstance(key.about, AttemptKey)
    attempt, run = state.attempts[key.about], state.runs[key.about.run]
    state.effects[key] = replace(state.effects[key], settled=True, claimed_until=None)
    if attempt.terminal or run.attempt != attempt.key:
        return "ended"
    if cause == "refused":
        end_run(state, run, "failed", "workflow_dispatch_failed", now)
        return "applied"
    run = replace(run, lost_attempts=run.lost_attempts + 1)
    if run.lost_attempts >= state.settings.max_execution_attempts:
        end_run(state, run, "failed", "runner_attempts_exhausted", now)
        return "applied"
    move_attempt(state, attempt, "stale", "workflow_dispatch_failed", now)
    run = move_run(state, run, "queued", "workflow_dispatch_failed", now)
    run = plan_dispatch(state, run)
    raise_publication(state, run)
    checks = [row for row in state.publications.values() if row.key.run == run.key]
    if any(row.check_run_id and row.key.retry_number == run.retry_number for row in checks):
        check_is_shown(state, run, now)
    return "applied"


def reconcile(
    state: State,
    repository_id: int,
    attempt_key: AttemptKey | None,
    workflow: Workflow,
    workflow_status: str,
    grace_seconds: int,
    now: int,
) -> str:
    """Take GitHub's word about a workflow run; `attempt_key` is what its run-name says, if anything."""
    attempt = bound_attempt(state, repository_id, workflow) or _latest_of(state, repository_id, workflow)
    if attempt is None and attempt_key is not None and attempt_key.run.repository_id == repository_id:
        attempt = state.attempts.get(attempt_key)
    if attempt is None:
        return "not_found"
    if workflow_status == "completed":
        effects.call_off(state, "workflow_cancel", (repository_id, workflow[0]))
    if (
        attempt.bound_to is not None
        and attempt.bound_to[0] == workflow[0]
        and workflow[1] > attempt.bound_to[1]
    ):
        return _run_again(state, attempt, workflow, workflow_status, now)
    if not bind(state, attempt, workflow, now, workflow_status):
        return "conflict"
    attempt = state.attempts[attempt.key]
    if attempt.terminal or attempt.bound_to != workflow:  # word of an earlier run_attempt is old news
        return "ended"
    if workflow_status == "completed":
        return _ended_in_silence(state, attempt, grace_seconds, now)
    return _follow(state, attempt, workflow_status, now)


def _latest_of(state: State, repository_id: int, workflow: Workflow) -> Attempt | None:
    known = [
        attempt
        for attempt in state.attempts.values()
        if attempt.bound_to is not None
        and attempt.key.run.repository_id == repository_id
        and attempt.bound_to[0] == workflow[0]
    ]
    return max(known, key=lambda attempt: attempt.bound_to or (0, 0), default=None)


def _follow(state: State, attempt: Attempt, workflow_status: str, now: int) -> str:
    """One that waits on GitHub is bound, no more: its dispatch is recorded by whoever looks it up."""
    if workflow_status != "in_progress" or attempt.status == "queued":
        return "existing"
    moved, run = attempt, state.runs[attempt.key.run]
    if moved.status == "dispatching":
        moved = move_attempt(state, moved, "dispatched", "workflow_dispatched", now)
    if moved.status == "dispatched":
        moved = move_attempt(state, moved, "in_progress", "workflow_reconciled", now)
    if moved == attempt and run.status == "running":
        return "existing"
    if run.status != "running":
        run = move_run(state, run, "running", "workflow_reconciled", now)
    raise_publication(state, run)
    return "applied"


def _ended_in_silence(state: State, attempt: Attempt, grace_seconds: int, now: int) -> str:
    """The workflow has ended without a result: its report may still be on its way."""
    seen_at = state.silences.setdefault(attempt.key, now)
    if now - seen_at < grace_seconds:
        return "waiting"
    del state.silences[attempt.key]
    end_run(state, state.runs[attempt.key.run], "failed", "workflow_reconciled", now)
    return "applied"


def _run_again(state: State, attempt: Attempt, workflow: Workflow, workflow_status: str, now: int) -> str:
    """Somebody pressed re-run on GitHub: a retry without dispatch, for the head of an open, enabled ref only."""
    run = state.runs[attempt.key.run]
    ref = state.refs[run.key.of_ref]
    head = ref.open and ref.head_sha == run.key.commit_sha and state.enabled(run.key.repository_id)
    if not run.terminal:  # its end is not known yet; once it is, this is a retry
        return "existing"
    if not head:
        if workflow_status != "completed":
            effects.want(state, "workflow_cancel", (run.key.repository_id, workflow[0]), now)
        return "ended"
    effects.call_off(state, "workflow_cancel", (run.key.repository_id, workflow[0]))
    run = ask_again(state, replace(run, backend="runner"), "retry_requested", now)
    attempt = insert_attempt(state, run, "in_progress", bound_to=workflow)
    run = move_run(state, run, "running", "workflow_reconciled", now, attempt=attempt.key, backend="actions")
    raise_publication(state, run)
    return "retried"
