from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardreadyops.domain.lifecycle import REASONS, TERMINAL_RUN_STATUSES, RunStatus
from boardreadyops.domain.plain_text import duration_words, one_line, storable
from boardreadyops.domain.verdict import Facts, Verdict, verdict

BLANK = {
    "reason_code": None,
    "decision": None,
    "approval": "not_needed",
    "stage": None,
    "cancelled_by": None,
    "summary": None,
    "error_count": None,
    "warning_count": None,
    "successor_sha": None,
}


def told(status: str, **facts: object) -> Verdict:
    return verdict(Facts(status=status, **{**BLANK, **facts}))  # type: ignore[arg-type]


def test_every_state_decision_and_reason_has_words_and_a_legal_check_state() -> None:
    decisions = (None, "pass", "fail", "error")
    for status, decision, reason in product(RunStatus, decisions, (None, *REASONS, "never_heard_of")):
        said = told(status, decision=decision, reason_code=reason)
        assert said.headline
        assert said.why
        assert "\n" not in said.headline + said.why + said.next_step
        assert (said.check_status == "completed") == (status in TERMINAL_RUN_STATUSES)
        assert (said.conclusion is not None) == (said.check_status == "completed")


def test_each_state_looks_different() -> None:
    said = [
        told("queued"),
        told("running"),
        told("completed", decision="pass"),
        told("completed", decision="fail"),
        told("failed"),
        told("timed_out"),
        told("cancelled"),
        told("superseded"),
    ]
    assert "".join(one.mark for one in said) == "○◐●■△◔⊘⇢"
    assert [one.conclusion for one in said] == [
        None, None, "success", "failure", "failure", "timed_out", "neutral", "neutral",
    ]  # fmt: skip


@pytest.mark.parametrize("reason", [None, *REASONS])
def test_a_failure_to_check_never_sounds_like_a_board_failure(reason: str | None) -> None:
    said = told("failed", decision="error", reason_code=reason, error_count=3)
    assert said.headline.startswith("Could not check this board: ")
    assert "finding" not in said.headline
    assert "ready" not in said.headline.lower()


def test_a_decision_counts_what_blocks_and_what_warns() -> None:
    assert told("completed", decision="fail", error_count=1).headline == "Not ready: 1 blocking finding"
    assert (
        told("completed", decision="fail", error_count=1200).headline == "Not ready: 1,200 blocking findings"
    )
    assert (
        told("completed", decision="pass", warning_count=2).headline == "Ready to fabricate (with 2 warnings)"
    )
    assert told("completed", decision="pass", warning_count=0).headline == "Ready to fabricate"


def test_a_timeout_says_which_deadline_passed_and_after_how_long() -> None:
    said = told("timed_out", reason_code="queue_deadline_exceeded", waited_seconds=21_600)
    assert (
        said.headline == "Timed out: no eligible runner took the board in time, 6 hours after it was queued"
    )


def test_superseded_names_its_successor() -> None:
    assert told("superseded", successor_sha="4f1c0de" + "0" * 33).headline == "Replaced by commit 4f1c0de"


def test_cancelled_says_by_whom_or_why() -> None:
    assert (
        told("cancelled", reason_code="cancelled_by_user", cancelled_by="mira").headline
        == "Cancelled by mira"
    )
    closed = told("cancelled", reason_code="pull_request_closed")
    assert closed.headline == "Cancelled: the pull request was closed"


def test_waiting_says_for_what() -> None:
    assert told("queued", approval="waiting").headline == "Waiting for approval"
    assert told("queued", reason_code="runner_lease_expired").headline == "Waiting for another runner"
    assert told("dispatched").headline == "Waiting for the workflow to start"
    assert told("running", stage="preparing_source").headline == "Checking: fetching the commit"


def test_the_runners_words_become_the_why_without_repeating_the_answer() -> None:
    said = told(
        "completed",
        decision="fail",
        error_count=1,
        summary="Not ready: 1 error\n- C7 is too close to J1\nDRC: 1 error.",
    )
    assert said.why == "C7 is too close to J1."


@given(st.text(), st.text(), st.sampled_from(RunStatus))
def test_text_from_outside_stays_one_bounded_line(summary: str, person: str, status: RunStatus) -> None:
    said = told(status, summary=summary, cancelled_by=person)
    assert (said.headline + said.why).isprintable()
    assert len(said.why) <= 600


@given(st.text(st.characters(exclude_categories=())), st.integers(1, 40))
def test_one_line_is_printable_bounded_and_encodable(text: str, limit: int) -> None:
    line = one_line(text, limit_characters=limit)
    assert len(line) <= limit
    assert line.isprintable()
    line.encode()


@given(st.text(st.characters(exclude_categories=())))
def test_storable_text_has_no_nul_and_encodes(text: str) -> None:
    assert "\0" not in storable(text)
    assert len(storable(text)) == len(text)
    storable(text).encode()


def test_durations_are_said_in_two_units() -> None:
    said = [duration_words(one) for one in (0, 1, 45, 90, 3_600, 5_400, 3_601, 90_061, 604_800)]
    assert said == [
        "0 seconds", "1 second", "45 seconds", "1 minute 30 seconds", "1 hour", "1 hour 30 minutes", "1 hour",
        "1 day 1 hour", "7 days",
    ]  # fmt: skip


def test_scenario_38_a_run_that_no_runner_can_take_names_what_is_missing() -> None:
    needs = ("kicad>=9", "gpu")
    assert told("queued", needs=needs).headline == "Waiting for a runner with kicad>=9, gpu"
    again = told("queued", needs=needs, reason_code="runner_lease_relinquished")
    assert again.headline == "Waiting for another runner with kicad>=9, gpu"
    late = told("timed_out", needs=needs, reason_code="queue_deadline_exceeded")
    assert late.headline == "Timed out: no eligible runner with kicad>=9, gpu took the board in time"
    assert late.next_step == "Start a runner with kicad>=9, gpu for this installation, then push again."
    assert len(told("queued", needs=("x" * 400,)).headline) <= 200
