"""The design's sentences about leases, results, publications, dispatch and deadlines (§6, 8-10), asked of the model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.model import invariants, model
from tests.model.conftest import A, B, backend, claimed, report, seen
from tests.model.dispatching import acknowledge, begin, give_up, reconcile
from tests.model.invariants import always, at_quiescence
from tests.model.publishing import claim as relay_claim
from tests.model.replay import disagreements, replay
from tests.model.rows import AttemptKey, EffectKey, PublicationKey, State


@pytest.fixture
def attempt(state: State) -> AttemptKey:
    model.observe(state, seen(A), 0)
    return claimed(state, 0)


def test_a_claim_makes_an_attempt_at_version_0_and_moves_the_run_once(
    state: State, attempt: AttemptKey
) -> None:
    assert (state.attempts[attempt].status, state.attempts[attempt].version) == ("in_progress", 0)
    assert (state.runs[A].status, state.runs[A].version, state.runs[A].attempt) == ("running", 1, attempt)
    assert [event.reason_code for event in state.events] == ["runner_lease_claimed"]


def test_a_repeated_claim_gives_the_same_lease_and_an_ended_one_says_so(
    state: State, attempt: AttemptKey
) -> None:
    assert model.claim(state, "bench", "r 0", 1) == ("existing", attempt)
    model.relinquish(state, attempt, "shutdown", 2)
    assert model.claim(state, "bench", "r 0", 3) == ("ended", attempt)


def test_a_runner_of_another_tenant_gets_nothing_and_a_managed_one_does(state: State) -> None:
    model.observe(state, seen(A), 0)
    assert model.claim(state, "other", "r", 1).outcome == "none"
    assert model.claim(state, "managed", "r", 1).outcome == "created"


def test_a_superseded_run_is_not_handed_out(state: State) -> None:
    model.observe(state, seen(A), 0)
    model.observe(state, seen(B, at=1), 1)
    assert claimed(state, 2).run == B
    assert model.claim(state, "bench", "next", 3).outcome == "none"


def test_a_beat_of_the_same_or_an_earlier_stage_writes_no_version_and_no_event(
    state: State, attempt: AttemptKey
) -> None:
    model.heartbeat(state, attempt, "uploading_artifacts", 10)
    version, events, told = state.attempts[attempt].version, len(state.events), dict(state.publications)
    for stage in ("uploading_artifacts", "running"):
        beat = model.heartbeat(state, attempt, stage, 20)
        assert beat == ("active", "continue", 120, 5_380)
    assert (state.attempts[attempt].version, len(state.events)) == (version, events) == (1, 2)
    assert state.publications == told


def test_a_relinquished_run_is_queued_again_with_one_event_per_entity(
    state: State, attempt: AttemptKey
) -> None:
    assert model.relinquish(state, attempt, "shutdown", 5) == "accepted"
    assert model.relinquish(state, attempt, "shutdown", 6) == "replayed"
    assert (state.attempts[attempt].status, state.runs[A].status) == ("stale", "queued")
    assert [event.reason_code for event in state.events[1:]] == ["runner_lease_relinquished"] * 2
    assert state.runs[A].attempt == attempt
    assert always(state) == []


def test_a_job_error_fails_the_attempt_and_the_third_ends_the_run(state: State, attempt: AttemptKey) -> None:
    for now in (10, 20):
        assert model.relinquish(state, attempt, "job_error", now) == "accepted"
        assert state.attempts[attempt].status == "failed"
        attempt = claimed(state, now + 5)
    model.relinquish(state, attempt, "job_error", 30)
    assert (state.runs[A].status, state.runs[A].reason_code) == ("failed", "runner_attempts_exhausted")
    assert always(state) == []


def test_other_relinquishes_are_bounded_at_20(state: State, attempt: AttemptKey) -> None:
    for now in range(1, 20):
        model.relinquish(state, attempt, "capacity", now)
        attempt = claimed(state, now)
    model.relinquish(state, attempt, "capacity", 20)
    assert state.runs[A].reason_code == "runner_attempts_exhausted"


def test_a_lost_lease_is_bounded_and_a_retry_counts_anew(state: State, attempt: AttemptKey) -> None:
    now = 0
    for _ in range(2):
        now += 120
        assert model.expire_leases(state, now) == 1
        attempt = claimed(state, now)
    model.expire_leases(state, now + 120)
    assert (state.runs[A].status, state.attempts[attempt].status) == ("failed", "failed")
    model.retry(state, A, 0, now + 121, installation_id=1)
    claimed(state, now + 122)
    model.expire_leases(state, now + 300)
    assert state.runs[A].status == "queued"
    assert always(state) == []


def test_expiry_tests_the_deadline_first(state: State, attempt: AttemptKey) -> None:
    for now in range(100, 5_400, 100):
        model.heartbeat(state, attempt, "running", now)
    assert state.leases[attempt].expires_at == 5_400
    model.expire_leases(state, 5_400)
    assert (state.runs[A].status, state.runs[A].reason_code) == ("timed_out", "run_deadline_exceeded")
    assert state.leases[attempt].state == "timed_out"


def test_drift_closes_an_expired_lease_and_changes_no_lifecycle(state: State, attempt: AttemptKey) -> None:
    state.leases[attempt] = replace(state.leases[attempt], run_version=7)
    before = state.runs[A], state.attempts[attempt], list(state.events)
    model.expire_leases(state, 200)
    assert state.leases[attempt].state == "expired"
    assert (state.runs[A], state.attempts[attempt], state.events) == before


def test_revoking_ends_the_lease_at_once(state: State, attempt: AttemptKey) -> None:
    assert model.revoke(state, "bench", 5) == "applied"
    assert (state.leases[attempt].state, state.runs[A].status) == ("revoked", "queued")
    assert model.claim(state, "bench", "new", 6).outcome == "revoked"


@pytest.mark.parametrize(
    ("status", "decision", "run_status"),
    [("completed", "pass", "completed"), ("completed", "fail", "completed"), ("failed", "error", "failed"),
     ("timed_out", "error", "timed_out")],
)  # fmt: skip
def test_legal_results_end_the_run(
    state: State, attempt: AttemptKey, status: str, decision: str, run_status: str
) -> None:
    assert model.record_result(state, report(state, attempt, status, decision), 5) == "accepted"
    assert (state.runs[A].status, state.runs[A].decision) == (run_status, decision)
    assert always(state) == []


def test_any_other_pair_is_refused(state: State, attempt: AttemptKey) -> None:
    for pair in (("completed", "error"), ("failed", "pass"), ("timed_out", "fail"), ("queued", "pass")):
        assert model.record_result(state, report(state, attempt, *pair), 5) == "invalid_transition"
    assert state.runs[A].status == "running"


def test_the_same_bytes_are_replayed_and_others_conflict(state: State, attempt: AttemptKey) -> None:
    model.record_result(state, report(state, attempt), 5)
    assert model.record_result(state, report(state, attempt), 6) == "replayed"
    assert model.record_result(state, report(state, attempt, decision="fail", body="two"), 7) == "conflict"
    assert state.runs[A].decision == "pass"
    assert [audit.outcome for audit in state.audits] == ["conflict"]
    model.retry(state, A, 0, 8, installation_id=1)
    assert model.record_result(state, report(state, attempt), 9) == "replayed"


def test_a_late_result_from_a_superseded_run_is_on_record_and_changes_nothing(
    state: State, attempt: AttemptKey
) -> None:
    model.observe(state, seen(B, at=1), 5)
    runs, events = dict(state.runs), list(state.events)
    assert model.record_result(state, report(state, attempt), 6) == "late"
    assert (state.runs, state.events) == (runs, events)
    assert [audit.outcome for audit in state.audits] == ["late"]


def test_a_stale_attempts_result_is_late(state: State, attempt: AttemptKey) -> None:
    model.expire_leases(state, 120)
    assert model.record_result(state, report(state, attempt), 121) == "late"


def test_an_inferred_ending_is_corrected_once(state: State, attempt: AttemptKey) -> None:
    state.runs[A] = replace(state.runs[A], lost_attempts=2)
    model.expire_leases(state, 120)
    assert state.attempts[attempt].inferred
    assert model.record_result(state, report(state, attempt), 121) == "accepted"
    assert (state.runs[A].status, state.runs[A].reason_code) == ("completed", "runner_result_corrected")
    assert model.record_result(state, report(state, attempt, body="two"), 122) == "conflict"
    assert always(state) == []


def test_a_queue_deadline_is_not_corrected(state: State, attempt: AttemptKey) -> None:
    model.expire_leases(state, 120)
    model.sweep_deadlines(state, 120 + 6 * 3_600)
    assert state.runs[A].reason_code == "queue_deadline_exceeded"
    assert model.record_result(state, report(state, attempt), 30_000) == "late"


def test_each_clock_has_its_own_reason_and_the_installations_comes_first(state: State) -> None:
    state.installations[1] = replace(state.installations[1], queue_timeout_seconds=60)
    model.observe(state, seen(A), 0)
    assert model.sweep_deadlines(state, 59) == []
    assert model.sweep_deadlines(state, 60) == [A]
    assert state.runs[A].reason_code == "queue_deadline_exceeded"
    assert model.sweep_deadlines(state, 61) == []


def test_an_unapproved_fork_times_out_at_the_approval_deadline(state: State) -> None:
    model.observe(state, seen(A, trust="fork"), 0)
    model.sweep_deadlines(state, 7 * 86_400)
    assert state.runs[A].reason_code == "approval_deadline_exceeded"


def test_an_older_write_never_lands_last(state: State, attempt: AttemptKey) -> None:
    [first] = relay_claim(state, 30, 1)
    assert relay_claim(state, 30, 2) == []
    model.heartbeat(state, attempt, "running", 3)
    assert relay_claim(state, 30, 90) == []
    [second] = relay_claim(state, 30, 91)
    assert (second.generation, second.doubtful) == (first.generation + 1, True)
    assert model.publishing.acknowledge(state, first.key, first.generation, first.seq, 99) == "stale"
    assert model.publishing.acknowledge(state, second.key, second.generation, second.seq, 99) == "applied"
    assert relay_claim(state, 30, 92) == []


def test_the_lower_retry_is_published_first_and_alone(state: State, attempt: AttemptKey) -> None:
    model.record_result(state, report(state, attempt), 1)
    model.retry(state, A, 0, 2, installation_id=1)
    [old] = relay_claim(state, 30, 3)
    assert old.key == PublicationKey(A, 0, 0)
    model.publishing.acknowledge(state, old.key, old.generation, old.seq, 99)
    [new] = relay_claim(state, 30, 4)
    assert new.key == PublicationKey(A, 1, 0)
    assert at_quiescence(state) != []
    model.publishing.acknowledge(state, new.key, new.generation, new.seq, 99)
    assert at_quiescence(state) == []


def dispatched(state: State, now: int) -> EffectKey:
    """The one dispatch that is due, begun by its relay."""
    for sent in relay_claim(state, 30, now):
        if sent.key.retry_number == state.runs[A].retry_number:
            model.publishing.record_check_run(state, sent.key, sent.generation, 7, now)
    [(key, generation)] = [
        claim for claim in model.effects.claim(state, 30, now) if claim[0].kind == "workflow_dispatch"
    ]
    assert begin(state, key, generation, now) == "begun"
    assert begin(state, key, generation, now) == "started"
    return key


def seen_in(state: State, workflow: tuple[int, int], status: str, now: int) -> str:
    return reconcile(state, 10, None, workflow, status, 60, now)


def test_a_dispatch_goes_its_way_and_its_result_is_accepted(state: State) -> None:
    backend(state, "actions")
    model.observe(state, seen(A), 0)
    [attempt] = state.attempts
    assert state.runs[A].attempt == attempt
    key = dispatched(state, 1)
    assert acknowledge(state, key, (99, 1), 2) == "applied"
    assert acknowledge(state, key, (99, 1), 2) == "existing"
    assert acknowledge(state, key, (98, 1), 2) == "conflict"
    assert model.effects.open_effect(state, "workflow_cancel", (10, 98)) is not None
    assert state.runs[A].status == "dispatched"
    assert seen_in(state, (99, 1), "in_progress", 3) == "applied"
    assert model.record_result(state, report(state, attempt), 4) == "accepted"
    assert always(state) == []
    assert seen_in(state, (99, 2), "in_progress", 5) == "retried"
    assert [event.reason_code for event in state.events[-2:]] == ["retry_requested", "workflow_reconciled"]
    assert seen_in(state, (99, 2), "in_progress", 6) == "existing"
    assert always(state) == []


def test_a_rerun_of_a_disabled_tenant_is_no_retry(state: State) -> None:
    backend(state, "actions")
    model.observe(state, seen(A), 0)
    acknowledge(state, dispatched(state, 1), (99, 1), 2)
    model.cancel(state, A, "cancelled_by_user", "octocat", 3, installation_id=1)
    state.installations[1] = replace(state.installations[1], enabled=False)
    assert seen_in(state, (99, 2), "in_progress", 4) == "ended"
    assert state.runs[A].retry_number == 0


def test_a_workflow_that_ended_without_a_result_is_waited_for_and_then_failed(state: State) -> None:
    backend(state, "actions")
    model.observe(state, seen(A), 0)
    acknowledge(state, dispatched(state, 1), (99, 1), 2)
    assert seen_in(state, (99, 1), "completed", 10) == "waiting"
    assert seen_in(state, (99, 1), "completed", 69) == "waiting"
    assert seen_in(state, (99, 1), "completed", 70) == "applied"
    assert (state.runs[A].status, state.runs[A].reason_code) == ("failed", "workflow_reconciled")
    [attempt] = state.attempts
    assert model.record_result(state, report(state, attempt), 80) == "accepted"
    assert state.runs[A].reason_code == "runner_result_corrected"


def test_a_silent_dispatch_is_replaced_up_to_the_bound(state: State) -> None:
    backend(state, "actions")
    model.observe(state, seen(A), 0)
    for now in (1, 2, 3):
        key = dispatched(state, now * 1_000)
        generation = state.effects[key].generation
        for sent, row in list(state.publications.items()):
            model.publishing.acknowledge(state, sent, row.generation, row.desired_seq, now)
        assert give_up(state, key, generation, "silent", now * 1_000 + 600) == "applied"
    assert (state.runs[A].status, state.runs[A].reason_code) == ("failed", "runner_attempts_exhausted")
    assert [attempt.status for attempt in state.attempts.values()] == ["stale", "stale", "failed"]


def test_a_superseded_run_is_not_dispatched_and_what_was_sent_is_cancelled(state: State) -> None:
    backend(state, "actions")
    model.observe(state, seen(A), 0)
    [attempt] = state.attempts
    key = dispatched(state, 1)
    model.observe(state, seen(B, at=1), 1)
    assert begin(state, key, 1, 2) == "started"
    assert acknowledge(state, key, (5, 1), 2) == "ended"
    assert state.attempts[attempt].bound_to == (5, 1)
    assert model.effects.open_effect(state, "workflow_cancel", (10, 5)) is not None


def test_the_replay_finds_a_broken_chain_a_wrong_edge_and_a_lost_event(
    state: State, attempt: AttemptKey
) -> None:
    model.record_result(state, report(state, attempt), 5)
    assert disagreements(state) == []
    good = state.events
    state.events = good[:-1]
    assert len(disagreements(state)) == 1
    assert replay([replace(good[0], to_status="completed")]).problems != []
    assert replay([replace(good[0], to_version=2)]).problems != []
    assert replay([good[0], replace(good[0], occurred_at=-1)]).problems != []
    assert replay([good[0], good[0]]).problems != []
    assert replay(good[2:], prefix_may_be_gone=True).problems == []


def test_the_invariants_find_what_is_planted(state: State, attempt: AttemptKey) -> None:
    assert invariants.always(state) == []
    for change in (
        {"due_at": None},
        {"version": 2},
        {"decision": "pass"},
        {"superseded_by": B},
        {"attempt": None},
        {"status": "queued"},
        {"installation_id": 2},
    ):
        run = state.runs[A]
        state.runs[A] = replace(run, **change)
        assert invariants.always(state) != [], change
        state.runs[A] = run
    state.leases[attempt] = replace(state.leases[attempt], state="expired")
    assert invariants.always(state) != []
