"""Retry and cancel (§6), and the general transition (§4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tests.model.edges import ATTEMPT_EDGES, ATTEMPT_TERMINAL, RUN_EDGES, RUN_TERMINAL, reason_is_legal
from tests.model.moving import (
    advance_snapshot,
    ask_again,
    end_lease,
    end_run,
    move_attempt,
    move_run,
    raise_publication,
)
from tests.model.rows import Attempt, AttemptKey, Run, RunKey, State


class Retried(NamedTuple):
    """The outcome of a retry with the asking that holds now."""

    outcome: str
    retry_number: int | None


def retry(
    state: State, run_key: RunKey, expected_retry_number: int, now: int, *, installation_id: int
) -> Retried:
    """Ask a terminal run again; a doubled click answers `existing`."""
    run = state.runs.get(run_key)
    if run is None or run.installation_id != installation_id or not state.enabled(run_key.repository_id):
        return Retried("not_found", None)
    if run.retry_number == expected_retry_number + 1:
        return Retried("existing", run.retry_number)
    if run.retry_number != expected_retry_number:
        return Retried("stale", run.retry_number)
    ref = state.refs[run_key.of_ref]
    if not ref.open or ref.head_sha != run_key.commit_sha:
        return Retried("superseded", run.retry_number)
    if not run.terminal:
        return Retried("not_terminal", run.retry_number)
    return Retried("created", ask_again(state, run, "retry_requested", now).retry_number)


class Cancelled(NamedTuple):
    """The outcome of a cancellation with the status and version that hold now."""

    outcome: str
    run_status: str | None = None
    run_version: int | None = None


def cancel(
    state: State, run_key: RunKey, reason: str, by: str | None, now: int, *, installation_id: int
) -> Cancelled:
    """Legal from every non-terminal state; again `existing`."""
    run = state.runs.get(run_key)
    if run is None or run.installation_id != installation_id:
        return Cancelled("not_found")
    if run.status == "cancelled":
        return Cancelled("existing", run.status, run.version)
    if run.terminal:
        return Cancelled("terminal", run.status, run.version)
    if not reason_is_legal(reason):
        return Cancelled("invalid_transition", run.status, run.version)
    run = end_run(state, run, "cancelled", reason, now, cancelled_by=by)
    return Cancelled("applied", run.status, run.version)


def cancel_installation(state: State, installation_id: int, reason: str, limit: int, now: int) -> int:
    """Cancel up to `limit` open runs; which ones first is not fixed, so callers compare below the limit."""
    open_runs = [
        run for run in state.runs.values() if run.installation_id == installation_id and not run.terminal
    ]
    for run in open_runs[:limit]:
        end_run(state, run, "cancelled", reason, now)
    return len(open_runs[:limit])


# `completed` needs a decision, `superseded` a successor, and the general transition has neither.
NEVER_IN_GENERAL = frozenset({"completed", "superseded"})


@dataclass(frozen=True, slots=True)
class Wish:
    """The arguments of a general transition."""

    run: RunKey
    run_status: str
    run_version: int
    attempt: AttemptKey | None
    next_run_status: str | None
    reason: str
    attempt_status: str | None = None
    attempt_version: int | None = None
    next_attempt_status: str | None = None


class Transition(NamedTuple):
    """The outcome with the values that hold now."""

    outcome: str
    run_status: str | None = None
    run_version: int | None = None
    attempt_status: str | None = None
    attempt_version: int | None = None


def transition(state: State, wish: Wish, now: int) -> Transition:
    """Lock, compare, write: `not_found`, `stale`, `invalid_transition`, `applied`, checked in this order."""
    run = state.runs.get(wish.run)
    if run is None:
        return Transition("not_found")
    if wish.attempt is not None and (wish.attempt.run != wish.run or wish.attempt not in state.attempts):
        return Transition("not_found")
    if _is_stale(state, run, wish):
        named = None if wish.attempt is None else state.attempts[wish.attempt]
        return _answer(run, named, "stale")
    if not _is_allowed(state, run, wish):
        return _answer(run, state.attempt_of(run), "invalid_transition")
    attempt = state.attempt_of(run)
    if wish.next_attempt_status is not None:
        assert attempt is not None
        if wish.next_attempt_status in ATTEMPT_TERMINAL:
            end_lease(state, run, wish.next_run_status or "failed")
        move_attempt(state, attempt, wish.next_attempt_status, wish.reason, now)
    if wish.next_run_status is not None:
        if wish.next_run_status in RUN_TERMINAL:
            end_lease(state, run, wish.next_run_status)
        run = move_run(state, run, wish.next_run_status, wish.reason, now)
    raise_publication(state, run)
    advance_snapshot(state, run)
    return _answer(run, state.attempt_of(run), "applied")


def _answer(run: Run, attempt: Attempt | None, outcome: str) -> Transition:
    if attempt is None:
        return Transition(outcome, run.status, run.version)
    return Transition(outcome, run.status, run.version, attempt.status, attempt.version)


def _is_stale(state: State, run: Run, wish: Wish) -> bool:
    if (run.status, run.version, run.attempt) != (wish.run_status, wish.run_version, wish.attempt):
        return True
    attempt = state.attempt_of(run)
    if attempt is None:
        return wish.attempt_status is not None or wish.attempt_version is not None
    return wish.attempt_status not in {None, attempt.status} or wish.attempt_version not in {
        None,
        attempt.version,
    }


def _is_allowed(state: State, run: Run, wish: Wish) -> bool:
    attempt = state.attempt_of(run)
    if not reason_is_legal(wish.reason) or (
        wish.next_run_status is None and wish.next_attempt_status is None
    ):
        return False
    if wish.next_attempt_status is not None:
        if attempt is None or wish.attempt_status is None or wish.attempt_version is None:
            return False
        if wish.next_attempt_status not in ATTEMPT_EDGES.get(attempt.status, ()):
            return False
        if wish.next_run_status is None and wish.next_attempt_status in ATTEMPT_TERMINAL:
            return run.status != "running"
    if wish.next_run_status is None:
        return True
    if wish.next_attempt_status == "completed":  # only a result completes an attempt
        return False
    if wish.next_run_status in NEVER_IN_GENERAL or wish.next_run_status not in RUN_EDGES.get(run.status, ()):
        return False
    if wish.next_run_status in RUN_TERMINAL and attempt is not None and not attempt.terminal:
        return wish.next_attempt_status in ATTEMPT_TERMINAL
    return True
