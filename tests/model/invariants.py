"""What must always hold (§13), as predicates over a state: the model's own, or the database read into its shape.

`always` holds after every single operation; `at_quiescence` once every effect is sent and every sweep has run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.model.edges import PERSON_OR_POLICY
from tests.model.moving import newest_publication
from tests.model.replay import disagreements
from tests.model.rows import RunKey, State


def always(state: State) -> list[str]:
    """Every invariant that no operation may break, even for a moment."""
    return [
        *one_open_run_per_ref(state),
        *only_the_head_is_open(state),
        *decisions_are_where_they_belong(state),
        *superseded_names_its_successor(state),
        *versions_count_events(state),
        *disagreements(state),
        *every_open_run_has_a_timer(state),
        *every_leased_attempt_has_a_live_lease(state),
        *snapshots_own_what_is(state),
        *pointers_lead_to_the_latest_attempt(state),
        *refused_results_are_on_record(state),
        *one_workflow_run_per_attempt(state),
        *the_newest_publication_tells_the_state(state),
        *tenants_stay_apart(state),
    ]


def at_quiescence(state: State) -> list[str]:
    """What holds once nothing is due any more."""
    return [*always(state), *heads_are_answered(state), *every_check_tells_the_end(state)]


def one_open_run_per_ref(state: State) -> Iterator[str]:
    """13.1, §4: one non-terminal run with `superseded_by` null per ref."""
    counted = Counter(
        run.key.of_ref for run in state.runs.values() if not run.terminal and run.superseded_by is None
    )
    yield from (f"{ref}: {count} open runs" for ref, count in counted.items() if count > 1)


def only_the_head_is_open(state: State) -> Iterator[str]:
    """13.1: no other run of the ref than its head's is non-terminal; a closed ref has none."""
    for run in state.runs.values():
        ref = state.refs.get(run.key.of_ref)
        if run.terminal:
            continue
        if ref is None or not ref.open or ref.head_sha != run.key.commit_sha or ref.authoritative != run.key:
            yield f"{run.key}: {run.status}, but not the head of an open ref"


def heads_are_answered(state: State) -> Iterator[str]:
    """13.1: an open head is asked, or ended with a decision, a failure class, a person's or policy's cancellation."""
    for ref in state.refs.values():
        if not ref.open or not state.enabled(ref.key.repository_id):
            continue
        run = state.runs.get(RunKey(ref.key.repository_id, ref.key.ref, ref.head_sha))
        if run is None:
            yield f"{ref.key}: its head has no run"
        elif run.status == "superseded" or (
            run.status == "cancelled" and run.reason_code not in PERSON_OR_POLICY
        ):
            yield f"{run.key}: {run.status} ({run.reason_code}) on an open head"


def every_check_tells_the_end(state: State) -> Iterator[str]:
    """13.2: each asking's check holds its final state."""
    for row in state.publications.values():
        if not row.closed and row.acked_seq != row.desired_seq:
            yield f"{row.key}: acknowledged {row.acked_seq} of {row.desired_seq}"


def decisions_are_where_they_belong(state: State) -> Iterator[str]:
    """§3: `completed` if and only if the decision is pass or fail; a decision comes from the current attempt's result."""
    for run in state.runs.values():
        if (run.status == "completed") != (run.decision in {"pass", "fail"}):
            yield f"{run.key}: {run.status} with decision {run.decision}"
        if run.decision == "error" and run.status not in {"failed", "timed_out"}:
            yield f"{run.key}: {run.status} with decision error"
        if run.decision is not None:
            result = None if run.attempt is None else state.results.get(run.attempt)
            if result is None or result.decision != run.decision:
                yield f"{run.key}: decision {run.decision} without its result"


def superseded_names_its_successor(state: State) -> Iterator[str]:
    """§5: a superseded run stores its successor, of the same ref; no other run has one."""
    for run in state.runs.values():
        if (run.status == "superseded") != (run.superseded_by is not None):
            yield f"{run.key}: {run.status} with successor {run.superseded_by}"
        if run.superseded_by is not None and (
            run.superseded_by not in state.runs
            or run.superseded_by.of_ref != run.key.of_ref
            or run.superseded_by == run.key
        ):
            yield f"{run.key}: {run.superseded_by} cannot succeed it"


def versions_count_events(state: State) -> Iterator[str]:
    """13.3: `version` is the number of events ever appended for that entity."""
    counted: Counter[object] = Counter(event.entity for event in state.events)
    versions = [(run.key, run.version) for run in state.runs.values()]
    held = [*versions, *((attempt.key, attempt.version) for attempt in state.attempts.values())]
    for key, version in held:
        if version != counted[key]:
            yield f"{key}: version {version}, {counted[key]} events"


def every_open_run_has_a_timer(state: State) -> Iterator[str]:
    """13.4: every non-terminal run has a timer that will fire; an ended one has none."""
    for run in state.runs.values():
        if run.terminal == (run.due_at is not None):
            yield f"{run.key}: {run.status} with due_at {run.due_at}"


def every_leased_attempt_has_a_live_lease(state: State) -> Iterator[str]:
    """13.4, 13.6: an open attempt that was leased has its active lease (keyed by attempt: at most one); an ended none."""
    for lease in state.leases.values():
        attempt, run = state.attempts[lease.attempt], state.runs[lease.attempt.run]
        if (lease.state == "active") == attempt.terminal:
            yield f"{lease.attempt}: {attempt.status} under a lease that is {lease.state}"
        if lease.state == "active" and (run.attempt != lease.attempt or run.terminal):
            yield f"{lease.attempt}: an active lease that is not its run's current one"
    for attempt in state.attempts.values():
        if not attempt.terminal and state.runs[attempt.key.run].attempt != attempt.key:
            yield f"{attempt.key}: {attempt.status}, but not its run's current attempt"


def snapshots_own_what_is(state: State) -> Iterator[str]:
    """§4: an active lease's snapshot is the present status and version of run and attempt."""
    for lease in state.leases.values():
        run, attempt = state.runs[lease.attempt.run], state.attempts[lease.attempt]
        owned = (lease.run_status, lease.run_version, lease.attempt_status, lease.attempt_version)
        if lease.state == "active" and owned != (run.status, run.version, attempt.status, attempt.version):
            yield f"{lease.attempt}: the lease owns {owned}, which is past"


def pointers_lead_to_the_latest_attempt(state: State) -> Iterator[str]:
    """§4: the pointer names the current asking's latest attempt, terminal or not; null until the first."""
    for run in state.runs.values():
        asked = [
            attempt.key
            for attempt in state.attempts.values()
            if (attempt.key.run, attempt.retry_number) == (run.key, run.retry_number)
        ]
        if run.attempt != max(asked, default=None):
            yield f"{run.key}: points to {run.attempt}, the latest of {asked} expected"


def refused_results_are_on_record(state: State) -> Iterator[str]:
    """13.5: a conflict is only ever recorded beside the accepted result that it contradicts."""
    for audit in state.audits:
        accepted = state.results.get(audit.attempt)
        if audit.outcome == "conflict" and (accepted is None or accepted.digest == audit.digest):
            yield f"{audit}: contradicts no accepted result"


def one_workflow_run_per_attempt(state: State) -> Iterator[str]:
    """13.6: no (run_id, run_attempt) is bound to two attempts."""
    counted = Counter(attempt.bound_to for attempt in state.attempts.values() if attempt.bound_to is not None)
    yield from (f"workflow {bound}: {count} attempts" for bound, count in counted.items() if count > 1)


def the_newest_publication_tells_the_state(state: State) -> Iterator[str]:
    """§8: every asking has its check, and the newest payload tells the run's present state."""
    for run in state.runs.values():
        asked = {row.key.retry_number for row in state.publications.values() if row.key.run == run.key}
        if asked != set(range(run.retry_number + 1)):
            yield f"{run.key}: checks for the askings {sorted(asked)} of {run.retry_number + 1}"
        elif newest_publication(state, run).payload_status != run.status:
            yield f"{run.key}: {run.status}, its check would say {newest_publication(state, run).payload_status}"
    for row in state.publications.values():
        if not 0 <= row.acked_seq <= row.desired_seq:
            yield f"{row.key}: acknowledged {row.acked_seq} of {row.desired_seq}"


def tenants_stay_apart(state: State) -> Iterator[str]:
    """13.7: a run belongs to its repository's installation; a runner's lease to its own."""
    for run in state.runs.values():
        if state.repositories[run.key.repository_id].installation_id != run.installation_id:
            yield f"{run.key}: another tenant's repository"
    for lease in state.leases.values():
        owner = state.registrations[lease.registration].installation_id
        if owner is not None and owner != state.runs[lease.attempt.run].installation_id:
            yield f"{lease.attempt}: leased by another tenant's runner"
