"""From a run's facts to what people read: headline, why, the next step, and the Check Run's state. Total and pure.

The facts are those of the publication's frozen payload (`status`, `reason_code`, `decision`, `approval`,
`cancelled_by`, `stage`, `needs`), beside the result's summary and counts and the successor's commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from boardreadyops.domain.lifecycle import REASONS, RunStatus
from boardreadyops.domain.plain_text import counted, duration_words, one_line, short_sha

CheckStatus = Literal["queued", "in_progress", "completed"]
Conclusion = Literal["success", "failure", "neutral", "timed_out"]
Tone = Literal["pass", "fail", "could_not", "open", "ended"]

MAX_WHY_CHARACTERS = 600
MAX_PERSON_CHARACTERS = 100
MAX_NEEDS_CHARACTERS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one asking. `waited_seconds` counts from when it was (last) queued to its end."""

    status: str
    reason_code: str | None
    decision: str | None
    approval: str
    stage: str | None
    cancelled_by: str | None
    summary: str | None
    error_count: int | None
    warning_count: int | None
    successor_sha: str | None
    waited_seconds: float | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in plain text (never Markdown or HTML): whoever shows it escapes it. `next_step` may be empty."""

    headline: str
    why: str
    next_step: str
    check_status: CheckStatus
    conclusion: Conclusion | None
    tone: Tone
    mark: str


# What a stage of a running attempt means to somebody who waits for the board.
STAGES: Mapping[str, str] = {
    "claimed": "a runner took it",
    "preparing_source": "fetching the commit",
    "running": "running the board checks",
    "uploading_artifacts": "uploading the reports",
    "reporting": "reporting the result",
}

# The class of a failure. None of these may sound like a board that was checked and found wanting.
_FAILURES: Mapping[str, tuple[str, str]] = {
    "runner_result_failed": (
        "the checks did not run to their end",
        "Fix what kept the checks from running, on the runner or in the repository, then push again.",
    ),
    "runner_result_corrected": (
        "the checks did not run to their end",
        "Fix what kept the checks from running, on the runner or in the repository, then push again.",
    ),
    "runner_attempts_exhausted": (
        "every runner that tried was lost",
        "Ask whoever runs the runners to look at their logs.",
    ),
    "workflow_dispatch_failed": (
        "the workflow could not be started",
        "Check the workflow file on the default branch and the App's permissions.",
    ),
    "workflow_reconciled": (
        "the workflow ended without a result",
        "Open the workflow run on GitHub to see where it stopped.",
    ),
}

_DEADLINES: Mapping[str, tuple[str, str]] = {
    "approval_deadline_exceeded": (
        "nobody approved the run in time",
        "Approve it, if the fork can be trusted.",
    ),
    "queue_deadline_exceeded": (
        "no eligible runner took the board in time",
        "Start a runner for this installation, then push again.",
    ),
    "start_deadline_exceeded": (
        "the workflow did not start in time",
        "Look whether GitHub Actions is waiting for a runner.",
    ),
    "run_deadline_exceeded": (
        "the checks took longer than allowed",
        "Raise the run deadline for a large board, or give the runner more power.",
    ),
    "runner_result_timed_out": (
        "the checks took longer than the runner allows",
        "Raise the runner's time limit for a large board, or give it more power.",
    ),
}

_CANCELLATIONS: Mapping[str, tuple[str, str, str]] = {
    "pull_request_closed": (
        "the pull request was closed",
        "A closed pull request needs no answer.",
        "Reopen it to have the board checked again.",
    ),
    "policy_skipped": (
        "forks are not checked here",
        "The installation's policy leaves pull requests from forks unchecked.",
        "",
    ),
    "installation_removed": (
        "the App was uninstalled",
        "BoardReadyOps may no longer read this repository.",
        "Install the App again to have boards checked.",
    ),
    "installation_suspended": (
        "the installation was suspended",
        "BoardReadyOps may not read this repository while the App is suspended.",
        "Unsuspend the App to have boards checked.",
    ),
    "repository_removed": (
        "the repository was removed from the installation",
        "BoardReadyOps may no longer read this repository.",
        "Give the App access to it again to have boards checked.",
    ),
}


def verdict(facts: Facts) -> Verdict:
    """What to say about a run in any state, with any decision and reason; ValueError for a state that is none."""
    status = RunStatus(facts.status)
    match status:
        case RunStatus.QUEUED | RunStatus.DISPATCHED:
            return _waiting(facts, status)
        case RunStatus.RUNNING:
            stage = STAGES.get(facts.stage or "", "checking the board")
            return Verdict(f"Checking: {stage}", "A runner is at work.", "", "in_progress", None, "open", "◐")
        case RunStatus.COMPLETED:
            return _decided(facts)
        case RunStatus.FAILED:
            return _could_not(facts)
        case RunStatus.TIMED_OUT:
            return _timed_out(facts)
        case RunStatus.CANCELLED:
            return _cancelled(facts)
        case RunStatus.SUPERSEDED:
            return _superseded(facts)
        case _ as never:
            assert_never(never)


def _waiting(facts: Facts, status: RunStatus) -> Verdict:
    why, next_step = "The board will be checked as soon as a runner is free.", ""
    if facts.approval == "waiting":
        headline = "Waiting for approval"
        why = "The commit comes from a fork; its files are not opened before somebody approves."
        next_step = "Have a maintainer look at the change and approve the run."
    elif status is RunStatus.DISPATCHED:
        headline, why = "Waiting for the workflow to start", "GitHub Actions was asked to run the checks."
    elif facts.reason_code in ("runner_lease_relinquished", "runner_lease_expired"):
        headline = "Waiting for another runner" + _with_needs(facts)
        why = REASONS[facts.reason_code]
    else:
        headline = "Waiting for a runner" + _with_needs(facts)
        if facts.reason_code in ("head_returned", "retry_requested"):
            why = REASONS[facts.reason_code]
    return Verdict(headline, why, next_step, "queued", None, "open", "○")


def _with_needs(facts: Facts) -> str:
    """What a runner must be able to do, so that an owner sees which one to start; empty when any will do."""
    needs = one_line(", ".join(facts.needs), limit_characters=MAX_NEEDS_CHARACTERS)
    return f" with {needs}" if needs else ""


def _decided(facts: Facts) -> Verdict:
    told = _told(facts, after_first_line=True)
    warnings = facts.warning_count or 0
    match facts.decision:
        case "pass":
            headline = "Ready to fabricate" + (f" (with {counted(warnings, 'warning')})" if warnings else "")
            why = told or "Every check that ran found nothing that blocks."
            next_step = "Look through the warnings before you order." if warnings else ""
            return Verdict(headline, why, next_step, "completed", "success", "pass", "●")
        case "fail":
            count = (
                counted(facts.error_count, "blocking finding") if facts.error_count else "blocking findings"
            )
            why = told or "The board breaks rules that must hold before it is made."
            return Verdict(
                f"Not ready: {count}",
                why,
                "Fix the blocking findings and push; the new commit is checked by itself.",
                "completed",
                "failure",
                "fail",
                "■",
            )
        case _:
            return _could_not(facts)


def _could_not(facts: Facts) -> Verdict:
    kind, next_step = _FAILURES.get(
        facts.reason_code or "",
        ("something other than the board failed", "Open the run page to see what happened."),
    )
    why = _told(facts) or REASONS.get(facts.reason_code or "", "No check of this board came to a decision.")
    return Verdict(
        f"Could not check this board: {kind}", why, next_step, "completed", "failure", "could_not", "△"
    )


def _timed_out(facts: Facts) -> Verdict:
    kind, next_step = _DEADLINES.get(
        facts.reason_code or "", ("a deadline passed", "Open the run page to see what happened.")
    )
    why = _told(facts) or REASONS.get(facts.reason_code or "", "The board was not checked in time.")
    if facts.reason_code == "queue_deadline_exceeded" and facts.needs:
        kind = f"no eligible runner{_with_needs(facts)} took the board in time"
        next_step = f"Start a runner{_with_needs(facts)} for this installation, then push again."
    if facts.waited_seconds is not None:
        kind += f", {duration_words(facts.waited_seconds)} after it was queued"
    return Verdict(f"Timed out: {kind}", why, next_step, "completed", "timed_out", "could_not", "◔")


def _cancelled(facts: Facts) -> Verdict:
    known = _CANCELLATIONS.get(facts.reason_code or "")
    if known is not None:
        kind, why, next_step = known
        headline = f"Cancelled: {kind}"
    else:
        person = one_line(facts.cancelled_by or "", limit_characters=MAX_PERSON_CHARACTERS)
        headline = f"Cancelled by {person}" if person else "Cancelled"
        why = REASONS.get(facts.reason_code or "", "The run was ended before it came to a decision.")
        next_step = "Push again to have the board checked."
    return Verdict(headline, why, next_step, "completed", "neutral", "ended", "⊘")


def _superseded(facts: Facts) -> Verdict:
    successor = f"commit {short_sha(facts.successor_sha)}" if facts.successor_sha else "a newer commit"
    return Verdict(
        f"Replaced by {successor}",
        "A newer commit of the same ref took this one's place.",
        f"Look at the check of {successor}.",
        "completed",
        "neutral",
        "ended",
        "⇢",
    )


def _told(facts: Facts, *, after_first_line: bool = False) -> str:
    """The runner's own words as sentences: its answer unless it repeats our headline, the findings it names, its notes.

    One line per check is in the summary too; those who show a verdict list the checks beside it.
    """
    first, *lines = (facts.summary or "").strip().splitlines() or [""]
    own = ([] if after_first_line else [first]) + [
        line for line in lines if line.startswith(("- ", "These results "))
    ]
    text = " ".join(f"{line.strip().removeprefix('- ').removesuffix('.')}." for line in own if line.strip())
    return one_line(text, limit_characters=MAX_WHY_CHARACTERS)
