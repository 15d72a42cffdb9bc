"""The design's sentences about refs, runs, retries and transitions (§3-6), each asked of the model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boardreadyops.domain import lifecycle
from tests.model import edges, invariants, model
from tests.model.conftest import A, B, C, claimed, report, seen
from tests.model.rows import Installation, RunKey, State


def test_the_models_edges_are_the_products_edges() -> None:
    ours = {start: set(ends) for start, ends in edges.RUN_EDGES.items()}
    theirs = {str(start): {str(end) for end in ends} for start, ends in lifecycle.RUN_EDGES.items()}
    assert ours == theirs
    ours = {start: set(ends) for start, ends in edges.ATTEMPT_EDGES.items()}
    assert ours == {str(start): {str(end) for end in ends} for start, ends in lifecycle.ATTEMPT_EDGES.items()}


def test_a_redelivery_returns_the_existing_run(state: State) -> None:
    assert model.observe(state, seen(A), 1).outcome == "created"
    before = list(state.events)
    assert model.observe(state, seen(A), 2) == model.Observed("existing", A)
    assert state.events == before
    assert len(state.publications) == 1


def test_a_new_commit_supersedes_the_earlier_open_run_and_names_itself(state: State) -> None:
    model.observe(state, seen(A), 1)
    attempt = claimed(state, 2)
    model.observe(state, seen(B, at=1), 3)
    assert (state.runs[A].status, state.runs[A].superseded_by) == ("superseded", B)
    assert state.attempts[attempt].status == "superseded"
    assert state.leases[attempt].state == "superseded"
    assert invariants.always(state) == []


def test_a_late_unknown_commit_is_recorded_superseded_by_the_authoritative_run(state: State) -> None:
    model.observe(state, seen(B, at=5), 1)
    answer = model.observe(state, seen(A, at=1), 2)
    assert (answer.outcome, answer.confirm) == ("superseded", True)
    assert (state.runs[A].version, state.runs[A].superseded_by) == (1, B)
    assert state.refs[A.of_ref].head_sha == B.commit_sha
    assert invariants.always(state) == []


def test_a_late_commit_without_anything_to_succeed_it_is_not_recorded(state: State) -> None:
    model.observe(state, seen(B, at=5, open=False), 1)
    answer = model.observe(state, seen(A, at=1), 2)
    assert (answer.outcome, answer.confirm) == ("ignored", True)
    assert A not in state.runs


def test_equal_time_and_other_content_asks_and_raises_the_observation(state: State) -> None:
    model.observe(state, seen(A), 1)
    answer = model.observe(state, seen(B), 2)
    assert (answer.outcome, answer.confirm) == ("ignored", True)
    assert state.refs[A.of_ref].observation == 1
    assert state.refs[A.of_ref].head_sha == A.commit_sha


def test_a_confirm_whose_question_is_older_than_the_ref_is_not_applied(state: State) -> None:
    model.observe(state, seen(A), 1)
    model.observe(state, seen(B, at=1), 2)
    assert model.observe(state, seen(A, at=9), 3, confirmed=0).outcome == "moved_on"
    assert model.observe(state, seen(A, at=1), 3, confirmed=1).outcome == "existing"
    assert state.refs[A.of_ref].head_sha == A.commit_sha


def test_a_forced_push_back_asks_the_old_head_again_with_a_new_check(state: State) -> None:
    for at, run in enumerate((A, B, A)):
        model.observe(state, seen(run, at=at), at)
    assert (state.runs[A].status, state.runs[A].retry_number) == ("queued", 1)
    assert state.runs[A].superseded_by is None
    assert state.runs[B].superseded_by == A
    assert len([key for key in state.publications if key.run == A]) == 2
    assert invariants.always(state) == []


def test_a_head_that_returns_with_a_decision_keeps_it(state: State) -> None:
    model.observe(state, seen(A), 1)
    model.record_result(state, report(state, claimed(state, 2)), 3)
    model.observe(state, seen(B, at=1), 4)
    model.observe(state, seen(A, at=2), 5)
    assert (state.runs[A].status, state.runs[A].retry_number) == ("completed", 0)
    assert state.refs[A.of_ref].authoritative == A
    assert state.runs[B].superseded_by == A


def test_a_closed_ref_cancels_and_a_reopened_one_asks_again(state: State) -> None:
    model.observe(state, seen(A), 1)
    closed = model.observe(state, seen(A, at=1, open=False), 2)
    assert closed.cancelled == (A,)
    assert state.runs[A].reason_code == "pull_request_closed"
    model.observe(state, seen(A, at=2), 3)
    assert (state.runs[A].status, state.runs[A].reason_code) == ("queued", "head_returned")


def test_what_a_person_or_policy_cancelled_is_not_asked_again(state: State) -> None:
    model.observe(state, seen(A), 1)
    model.cancel(state, A, "cancelled_by_user", "octocat", 2, installation_id=1)
    model.observe(state, seen(A, at=1, draft=True), 3)
    assert model.apply_level_rule(state, A.of_ref, 4) == "none"
    assert state.runs[A].status == "cancelled"


def test_a_suspended_installation_is_asked_again_once_it_is_enabled(state: State) -> None:
    model.observe(state, seen(A), 1)
    model.cancel_installation(state, 1, "installation_suspended", 10, 2)
    state.installations[1] = replace(state.installations[1], enabled=False)
    assert model.sweep_levels(state, 3) == []
    state.installations[1] = replace(state.installations[1], enabled=True)
    assert model.sweep_levels(state, 4) == [A]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 2, 0, 1, 1)])
def test_any_order_of_deliveries_converges(state: State, order: tuple[int, ...]) -> None:
    for now, at in enumerate(order):
        model.observe(state, seen((A, B, C)[at], at=at), now)
    assert state.refs[A.of_ref].authoritative == C
    assert [run for run in state.runs.values() if not run.terminal] == [state.runs[C]]
    assert invariants.always(state) == []


def test_a_push_is_taken_after_its_predecessor_and_asked_about_otherwise(state: State) -> None:
    zeros, one, two, three = (letter * 40 for letter in "0abc")
    push = model.Pushed(1, 10, "refs/heads/main", zeros, one)
    runs = {sha: RunKey(10, push.ref, sha) for sha in (one, two)}
    assert model.observe_push(state, push, 1) == ("created", runs[one])
    assert model.observe_push(state, push, 1) == ("existing", runs[one])
    assert model.observe_push(state, replace(push, before_sha=two, after_sha=three), 2) == ("ask", None)
    observation = state.refs[push.key].observation
    onward = replace(push, before_sha=one, after_sha=two)
    assert model.observe_push(state, onward, 3) == ("created", runs[two])
    assert model.observe_push(state, onward, 3, confirmed=observation) == ("moved_on", None)
    back = replace(push, before_sha=two, after_sha=one)
    assert model.observe_push(state, back, 4) == ("ask", None)
    assert model.observe_push(state, replace(push, before_sha=two, after_sha=None), 5) == ("closed", None)
    assert (state.runs[runs[two]].status, state.runs[runs[two]].reason_code) == ("cancelled", "ref_deleted")
    assert model.effects.open_effect(state, "confirm", push.key) is not None
    assert invariants.always(state) == []


def test_another_tenants_run_is_not_found(state: State) -> None:
    assert model.observe(state, replace(seen(A), installation_id=2), 1).outcome == "not_found"
    model.observe(state, seen(A), 2)
    assert model.cancel(state, A, "cancelled_by_user", None, 3, installation_id=2).outcome == "not_found"
    assert model.retry(state, A, 0, 3, installation_id=2).outcome == "not_found"


def test_a_retry_answers_in_the_fixed_order(state: State) -> None:
    model.observe(state, seen(A), 1)
    assert model.retry(state, C, 0, 2, installation_id=1).outcome == "not_found"
    assert model.retry(state, A, 1, 2, installation_id=1).outcome == "stale"
    assert model.retry(state, A, 0, 2, installation_id=1).outcome == "not_terminal"
    model.record_result(state, report(state, claimed(state, 3), "failed", "error"), 4)
    assert model.retry(state, A, 0, 5, installation_id=1) == ("created", 1)
    assert (state.runs[A].decision, state.runs[A].attempt) == (None, None)
    assert model.retry(state, A, 0, 6, installation_id=1) == ("existing", 1)
    model.observe(state, seen(B, at=1), 7)
    assert model.retry(state, A, 1, 8, installation_id=1).outcome == "superseded"
    assert invariants.always(state) == []


def test_a_doubled_click_after_a_fast_failure_does_not_retry_twice(state: State) -> None:
    model.observe(state, seen(A), 1)
    model.record_result(state, report(state, claimed(state, 2), "failed", "error"), 3)
    model.retry(state, A, 0, 4, installation_id=1)
    model.record_result(state, report(state, claimed(state, 5), "failed", "error"), 6)
    assert model.retry(state, A, 0, 7, installation_id=1) == ("existing", 1)


def test_cancel_is_legal_from_every_open_state_and_again_existing(state: State) -> None:
    model.observe(state, seen(A), 1)
    attempt = claimed(state, 2)
    assert model.cancel(state, A, "cancelled_by_user", "octocat", 3, installation_id=1).outcome == "applied"
    assert model.cancel(state, A, "cancelled_by_user", "octocat", 4, installation_id=1).outcome == "existing"
    beat = model.heartbeat(state, attempt, "running", 5)
    assert beat is not None
    assert (beat.lease_state, beat.directive) == ("cancelled", "stop")


def test_a_forks_run_waits_for_approval_which_changes_no_version(state: State) -> None:
    model.observe(state, seen(A, trust="fork"), 0)
    assert state.runs[A].due_at == 7 * 86_400
    assert model.claim(state, "bench", "r", 1).outcome == "none"
    assert model.approve(state, A, 1, 100) == "applied"
    assert (state.runs[A].version, state.runs[A].due_at) == (0, 100 + 6 * 3_600)
    assert model.approve(state, A, 1, 101) == "existing"
    assert model.claim(state, "bench", "r2", 102).outcome == "created"


def test_a_skipping_policy_cancels_a_forks_run(state: State) -> None:
    state.installations[1] = Installation(1, fork_policy="skip")
    model.observe(state, seen(A, trust="fork"), 0)
    assert (state.runs[A].status, state.runs[A].reason_code) == ("cancelled", "policy_skipped")


class TestGeneralTransition:
    """§4: outcomes in their order; anything but `applied` writes nothing."""

    @pytest.fixture
    def wish(self, state: State) -> model.Wish:
        model.observe(state, seen(A), 1)
        return model.Wish(A, "queued", 0, None, "dispatched", "workflow_dispatched")

    def test_an_applied_one_raises_the_version_and_appends_one_event(
        self, state: State, wish: model.Wish
    ) -> None:
        assert model.transition(state, wish, 2) == ("applied", "dispatched", 1, None, None)
        assert len(state.events) == 1
        assert state.runs[A].due_at == 2 + 1_800

    def test_a_repeat_is_stale_and_tells_what_holds(self, state: State, wish: model.Wish) -> None:
        model.transition(state, wish, 2)
        assert model.transition(state, wish, 3) == ("stale", "dispatched", 1, None, None)

    def test_an_unknown_run_or_attempt_is_not_found(self, state: State, wish: model.Wish) -> None:
        assert model.transition(state, replace(wish, run=B), 2) == ("not_found", None, None, None, None)
        attempt = claimed(state, 2)
        strange = attempt._replace(number=9)
        assert model.transition(state, replace(wish, attempt=strange), 3).outcome == "not_found"

    def test_stale_is_checked_before_what_is_allowed(self, state: State, wish: model.Wish) -> None:
        wrong = replace(wish, run_version=5, next_run_status="completed", reason="Not Legal")
        assert model.transition(state, wrong, 2).outcome == "stale"

    @pytest.mark.parametrize(
        "change",
        [
            {"next_run_status": "completed"},
            {"next_run_status": "superseded"},
            {"next_run_status": "queued"},
            {"next_run_status": None},
            {"reason": "Not legal"},
            {"reason": "x" * 129},
            {"reason": ""},
            {"next_attempt_status": "failed"},
        ],
    )
    def test_what_is_not_allowed_writes_nothing(
        self, state: State, wish: model.Wish, change: dict[str, str | None]
    ) -> None:
        wish = replace(wish, **change)  # type: ignore[arg-type]
        assert model.transition(state, wish, 2).outcome == "invalid_transition"
        assert state.events == []

    def test_a_terminal_run_may_not_leave_an_open_attempt_behind(
        self, state: State, wish: model.Wish
    ) -> None:
        attempt = claimed(state, 2)
        end = replace(wish, run_status="running", run_version=1, attempt=attempt, next_run_status="failed")
        assert model.transition(state, end, 3).outcome == "invalid_transition"
        both = replace(end, attempt_status="in_progress", attempt_version=0, next_attempt_status="failed")
        alone = replace(both, next_run_status=None)
        assert model.transition(state, alone, 3).outcome == "invalid_transition"
        assert model.transition(state, both, 3) == ("applied", "failed", 2, "failed", 1)
        assert state.leases[attempt].state == "failed"
        assert invariants.always(state) == []

    def test_an_attempt_alone_advances_the_snapshot_of_its_lease(
        self, state: State, wish: model.Wish
    ) -> None:
        attempt = claimed(state, 2)
        wish = model.Wish(A, "running", 1, attempt, None, "by_test", "in_progress", 0, "uploading_artifacts")
        assert model.transition(state, wish, 3).outcome == "applied"
        assert state.leases[attempt].attempt_version == 1
        assert invariants.always(state) == []
