"""The moves that every operation is made of: one event and one version per change, clocks, leases, publications."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.model import effects
from tests.model.edges import INFERRED_REASONS, RESULT_REASONS, RUN_TERMINAL
from tests.model.rows import (
    Attempt,
    AttemptKey,
    Event,
    Lease,
    Publication,
    PublicationKey,
    Run,
    RunKey,
    State,
    Told,
)

ENDED_FROM_OUTSIDE = frozenset({"cancelled", "superseded", "timed_out", "stale"})


def time_in(state: State, run: RunKey, now: int) -> int:
    """`occurred_at` never goes back within a run."""
    return max([now, *(event.occurred_at for event in state.events if event.run == run)])


def deadline(state: State, run: Run, status: str, now: int) -> int | None:
    """When a run of this status passes its clock: the installation's over the deployment's."""
    match status:
        case "queued":
            clock = "approval_timeout_seconds" if run.approval == "waiting" else "queue_timeout_seconds"
        case "dispatched":
            clock = "start_timeout_seconds"
        case "running":
            clock = "run_timeout_seconds"
        case _:
            return None
    own: int | None = getattr(state.installations[run.installation_id], clock)
    seconds: int = getattr(state.settings, clock) if own is None else own
    return now + seconds


def move_run(state: State, run: Run, status: str, reason: str, now: int, **changes: Any) -> Run:
    """One edge: version and event; the clock of the new status starts."""
    now = time_in(state, run.key, now)
    _append(state, run.key, run.status, status, run.version, reason, now)
    moved = replace(run, status=status, version=run.version + 1, reason_code=reason, **changes)
    moved = replace(moved, due_at=deadline(state, moved, status, now))
    moved = replace(moved, finished_at=now if moved.terminal else None)
    if status == "queued":
        moved = replace(moved, queued_at=now)
    state.runs[run.key] = moved
    return moved


def move_attempt(
    state: State, attempt: Attempt, status: str, reason: str, now: int, **changes: Any
) -> Attempt:
    """One edge of an attempt."""
    now = time_in(state, attempt.key.run, now)
    _append(state, attempt.key, attempt.status, status, attempt.version, reason, now)
    moved = replace(attempt, status=status, version=attempt.version + 1, **changes)
    state.attempts[attempt.key] = moved
    return moved


def _append(
    state: State, entity: RunKey | AttemptKey, start: str, end: str, version: int, reason: str, at: int
) -> None:
    run = entity.run if isinstance(entity, AttemptKey) else entity
    tenant = state.runs[run].installation_id
    state.events.append(Event(entity, start, end, version, version + 1, reason, at, tenant))


def insert_attempt(
    state: State, run: Run, status: str, *, bound_to: tuple[int, int] | None = None
) -> Attempt:
    """A new attempt at version 0, without an event; the caller moves the pointer."""
    number = 1 + sum(key.run == run.key for key in state.attempts)
    attempt = Attempt(AttemptKey(run.key, number), run.retry_number, status, 0, bound_to=bound_to)
    state.attempts[attempt.key] = attempt
    return attempt


def active_lease(state: State, run: Run) -> Lease | None:
    lease = None if run.attempt is None else state.leases.get(run.attempt)
    return lease if lease is not None and lease.state == "active" else None


def end_lease(state: State, run: Run, lease_state: str) -> None:
    """Close the lease of the current attempt, if there is an active one."""
    lease = active_lease(state, run)
    if lease is not None:
        state.leases[lease.attempt] = replace(lease, state=lease_state)


def advance_snapshot(state: State, run: Run) -> None:
    """Whatever raises a version under an active lease advances that lease's snapshot."""
    lease, attempt = active_lease(state, run), state.attempt_of(run)
    if lease is not None and attempt is not None:
        state.leases[lease.attempt] = replace(
            lease,
            run_status=run.status,
            run_version=run.version,
            attempt_status=attempt.status,
            attempt_version=attempt.version,
        )


def end_run(state: State, run: Run, status: str, reason: str, now: int, **changes: Any) -> Run:
    """End a run with its attempt (same terminal name), its lease and its publication: one transaction."""
    assert status in RUN_TERMINAL
    end_lease(state, run, status)
    attempt = state.attempt_of(run)
    if attempt is not None and not attempt.terminal:
        attempt = move_attempt(state, attempt, status, reason, now, inferred=reason in INFERRED_REASONS)
        if reason not in RESULT_REASONS:
            cancel_workflow(state, attempt, now)
    run = move_run(state, run, status, reason, now, **changes)
    raise_publication(state, run)
    return run


def cancel_workflow(state: State, attempt: Attempt, now: int) -> None:
    """What works for an attempt that was ended from outside is to stop."""
    if attempt.bound_to is not None and attempt.status in ENDED_FROM_OUTSIDE:
        effects.want(state, "workflow_cancel", (attempt.key.run.repository_id, attempt.bound_to[0]), now)


def told(state: State, run: Run) -> Told:
    """What a check of this run would say now."""
    lease = active_lease(state, run)
    return Told(
        run.status,
        run.reason_code,
        run.decision,
        run.approval,
        None if lease is None else lease.stage,
        run.cancelled_by,
        run.superseded_by,
        run.attempt,
    )


def open_publication(state: State, run: Run, now: int) -> None:
    """The Check Run of a new asking: nothing is acknowledged yet."""
    key = PublicationKey(run.key, run.retry_number, 0)
    state.publications[key] = Publication(
        key,
        told(state, run),
        1,
        0,
        0,
        doubtful=False,
        leased=False,
        check_run_id=None,
        closed=False,
        available_at=now,
    )


def newest_publication(state: State, run: Run) -> Publication:
    """The last ordinal of the run's current asking."""
    return max(
        (
            publication
            for publication in state.publications.values()
            if (publication.key.run, publication.key.retry_number) == (run.key, run.retry_number)
        ),
        key=lambda publication: publication.key.ordinal,
    )


def raise_publication(state: State, run: Run) -> None:
    """A change a person could see: the payload is written and `desired_seq` raised, on every ordinal."""
    for key, publication in list(state.publications.items()):
        if (key.run, key.retry_number) == (run.key, run.retry_number):
            state.publications[key] = replace(
                publication, told=told(state, run), desired_seq=publication.desired_seq + 1
            )


def ask_again(state: State, run: Run, reason: str, now: int) -> Run:
    """A new asking of a terminal run: new retry, new check, attempts counted anew; the old check is frozen."""
    assert run.terminal
    run = move_run(
        state,
        run,
        "queued",
        reason,
        now,
        retry_number=run.retry_number + 1,
        attempt=None,
        decision=None,
        superseded_by=None,
        cancelled_by=None,
        lost_attempts=0,
        relinquished=0,
        not_before=0,
    )
    run = plan_dispatch(state, run)
    open_publication(state, run, now)
    return run


def plan_dispatch(state: State, run: Run) -> Run:
    """An Actions run gets its attempt together with the asking; a runner's claim makes its own."""
    if run.backend != "actions":
        return run
    run = replace(run, attempt=insert_attempt(state, run, "queued").key)
    state.runs[run.key] = run
    return run


def check_is_shown(state: State, run: Run, now: int) -> None:
    """GitHub shows the check of this asking: its planned dispatch may go on."""
    attempt = state.attempt_of(run)
    if attempt is not None and attempt.status == "queued":
        move_attempt(state, attempt, "dispatching", "check_run_created", now)
        dispatch_when_due(state, run, now)


def dispatch_when_due(state: State, run: Run, now: int) -> None:
    """A dispatch is due once GitHub shows the check, and never before the run is approved."""
    attempt = state.attempt_of(run)
    if attempt is not None and attempt.status == "dispatching" and run.approval != "waiting":
        effects.want(state, "workflow_dispatch", attempt.key, now)
