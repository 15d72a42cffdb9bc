"""Runner leases (§9, and the mission's guarded runner lease policy)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tests.model.edges import ATTEMPT_OF_STAGE, STAGES
from tests.model.moving import (
    active_lease,
    advance_snapshot,
    end_run,
    insert_attempt,
    move_attempt,
    move_run,
    raise_publication,
)
from tests.model.rows import AttemptKey, Lease, Run, RunKey, State

COSTS_AN_ATTEMPT = frozenset({"job_error"})


class Claimed(NamedTuple):
    """The outcome of a claim with the attempt whose lease it is."""

    outcome: str
    attempt: AttemptKey | None = None


def claimable(state: State, registration_id: str, now: int) -> list[Run]:
    """Queued runs this runner may take: heads of open, enabled refs, approved where they must be.

    A run whose queue clock has passed may still be taken, as long as no sweep has ended it; so may one of a tenant
    that was disabled, as long as its open work has not been cancelled.
    """
    registration = state.registrations[registration_id]
    return [
        run
        for run in state.runs.values()
        if run.status == "queued"
        and run.backend == "runner"
        and run.approval != "waiting"
        and run.superseded_by is None
        and run.not_before <= now
        and registration.installation_id in {None, run.installation_id}
        and state.refs[run.key.of_ref].open
        and state.refs[run.key.of_ref].authoritative == run.key
    ]


def fair_choices(state: State, registration_id: str, now: int) -> set[RunKey]:
    """Fair between installations, FIFO inside one: the oldest of each installation, more than one on a tie."""
    runs = claimable(state, registration_id, now)
    oldest: dict[int, int] = {}
    for run in runs:
        oldest[run.installation_id] = min(run.queued_at, oldest.get(run.installation_id, run.queued_at))
    return {run.key for run in runs if run.queued_at == oldest[run.installation_id]}


def claim(
    state: State, registration_id: str, request: str, now: int, *, picked: RunKey | None = None
) -> Claimed:
    """Hand out the oldest run. `picked` names the one that the database took among equals."""
    registration = state.registrations[registration_id]
    if registration.revoked:
        return Claimed("revoked")
    for lease in state.leases.values():
        if (lease.registration, lease.request) == (registration_id, request):
            return Claimed("existing" if lease.state == "active" else "ended", lease.attempt)
    choices = fair_choices(state, registration_id, now)
    if not choices:
        return Claimed("none")
    run = state.runs[picked if picked in choices else min(choices)]
    attempt = insert_attempt(state, run, "in_progress")
    run = move_run(state, run, "running", "runner_lease_claimed", now, attempt=attempt.key)
    assert run.due_at is not None
    state.leases[attempt.key] = Lease(
        attempt.key,
        registration_id,
        request,
        "active",
        STAGES[0],
        run.status,
        run.version,
        attempt.status,
        attempt.version,
        expires_at=min(now + state.settings.lease_seconds, run.due_at),
        maximum_expires_at=run.due_at,
    )
    raise_publication(state, run)
    return Claimed("created", attempt.key)


class Beat(NamedTuple):
    """The answer to a heartbeat; seconds from now."""

    lease_state: str
    directive: str
    expires_in_seconds: int
    maximum_expires_in_seconds: int


def heartbeat(state: State, attempt_key: AttemptKey, stage: str, now: int) -> Beat | None:
    """Extend a lease; a later stage is written, an earlier one ignored; the last two stages move the attempt.

    A lease that has run out, but that no sweep has taken, lives again: its runner was only slow to be heard.
    """
    lease = state.leases.get(attempt_key)
    if lease is None:
        return None
    if lease.state != "active":
        return Beat(lease.state, "stop", 0, 0)
    if lease.maximum_expires_at <= now or drifted(state, lease):
        return Beat("expired", "stop", 0, 0)
    expires_at = min(now + state.settings.lease_seconds, lease.maximum_expires_at)
    state.leases[attempt_key] = replace(lease, expires_at=max(lease.expires_at, expires_at))
    if STAGES.index(stage) > STAGES.index(lease.stage):
        _enter_stage(state, attempt_key, stage, now)
    lease = state.leases[attempt_key]
    return Beat("active", "continue", lease.expires_at - now, lease.maximum_expires_at - now)


def _enter_stage(state: State, attempt_key: AttemptKey, stage: str, now: int) -> None:
    state.leases[attempt_key] = replace(state.leases[attempt_key], stage=stage)
    run, attempt = state.runs[attempt_key.run], state.attempts[attempt_key]
    status = ATTEMPT_OF_STAGE.get(stage)
    if status is not None and attempt.status != status:
        move_attempt(state, attempt, status, "runner_lease_heartbeat", now)
        advance_snapshot(state, run)
    raise_publication(state, run)


def drifted(state: State, lease: Lease) -> bool:
    """Whether run, attempt or pointer are no longer what the lease owns."""
    run, attempt = state.runs[lease.attempt.run], state.attempts[lease.attempt]
    return (run.status, run.version, run.attempt, attempt.status, attempt.version) != (
        lease.run_status,
        lease.run_version,
        lease.attempt,
        lease.attempt_status,
        lease.attempt_version,
    )


def relinquish(
    state: State, attempt_key: AttemptKey, reason: str, now: int, *, not_before: int | None = None
) -> str:
    """Give a run back: `accepted`, `replayed` or `stale`."""
    lease = state.leases.get(attempt_key)
    if lease is None:
        return "not_found"
    if lease.state != "active":
        return "replayed" if lease.state == "relinquished" else "stale"
    if drifted(state, lease):
        state.leases[attempt_key] = replace(lease, state="relinquished")
        return "stale"
    costs = reason in COSTS_AN_ATTEMPT
    give_back(
        state,
        lease,
        "relinquished",
        "runner_lease_relinquished",
        now,
        attempt_status="failed" if costs else "stale",
        costs_an_attempt=costs,
        not_before=now if costs else (not_before or now),
    )
    return "accepted"


def give_back(
    state: State,
    lease: Lease,
    lease_state: str,
    reason: str,
    now: int,
    *,
    attempt_status: str,
    costs_an_attempt: bool,
    not_before: int,
) -> None:
    """Close the lease, end its attempt and queue the run again, or fail it at the bound."""
    state.leases[lease.attempt] = replace(lease, state=lease_state)
    run, attempt = state.runs[lease.attempt.run], state.attempts[lease.attempt]
    run = replace(
        run,
        lost_attempts=run.lost_attempts + costs_an_attempt,
        relinquished=run.relinquished + (not costs_an_attempt),
    )
    exhausted = (
        run.lost_attempts >= state.settings.max_execution_attempts
        or run.relinquished >= state.settings.max_relinquishes
    )
    if exhausted:
        end_run(state, run, "failed", "runner_attempts_exhausted", now)
        return
    move_attempt(state, attempt, attempt_status, reason, now)
    run = move_run(state, run, "queued", reason, now, not_before=not_before)
    raise_publication(state, run)


def expire_leases(state: State, now: int) -> int:
    """The sweep: an overdue lease ends, the run deadline tested first; drift closes the lease and nothing else."""
    due = [lease for lease in state.leases.values() if lease.state == "active" and lease.expires_at <= now]
    for lease in due:
        expire_lease(state, lease, now)
    return len(due)


def expire_lease(state: State, lease: Lease, now: int) -> None:
    """One lease of the sweep."""
    run = state.runs[lease.attempt.run]
    if drifted(state, lease):
        state.leases[lease.attempt] = replace(lease, state="expired")
    elif run.due_at is not None and run.due_at <= now:
        end_run(state, run, "timed_out", "run_deadline_exceeded", now)
    else:
        _lose(state, lease, "expired", now)


def revoke(state: State, registration_id: str, now: int) -> str:
    """Revoking ends the registration's leases at once; each counts as a lost lease."""
    registration = state.registrations.get(registration_id)
    if registration is None:
        return "not_found"
    if registration.revoked:
        return "existing"
    state.registrations[registration_id] = replace(registration, revoked=True)
    for run in list(state.runs.values()):
        lease = active_lease(state, run)
        if lease is not None and lease.registration == registration_id:
            _lose(state, lease, "revoked", now)
    return "applied"


def _lose(state: State, lease: Lease, lease_state: str, now: int) -> None:
    give_back(
        state,
        lease,
        lease_state,
        f"runner_lease_{lease_state}",
        now,
        attempt_status="stale",
        costs_an_attempt=True,
        not_before=now,
    )
