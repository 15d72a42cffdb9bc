"""Results (§6): accepted once per attempt, corrected once, late and conflicting ones on record."""

from __future__ import annotations

from dataclasses import dataclass

from tests.model.edges import LEGAL_RESULTS
from tests.model.moving import end_run, move_attempt, move_run, raise_publication
from tests.model.rows import Attempt, AttemptKey, Audit, Result, Run, RunKey, State


@dataclass(frozen=True, slots=True)
class Report:
    """A result as a runner sent it; `digest` stands for the SHA-256 of the raw body."""

    run: RunKey
    attempt: AttemptKey
    retry_number: int
    digest: str
    status: str
    decision: str


def record_result(state: State, report: Report, now: int) -> str:
    """`not_found`, a pair that is refused (422), `replayed`, `conflict`, `late`, `accepted`, in this order."""
    run, attempt = state.runs.get(report.run), state.attempts.get(report.attempt)
    if run is None or attempt is None or attempt.key.run != run.key:
        return "not_found"
    if (report.status, report.decision) not in LEGAL_RESULTS:
        return "invalid_transition"
    accepted = state.results.get(attempt.key)
    if accepted is not None:
        if accepted.digest == report.digest:
            return "replayed"
        return _audit(state, report, "conflict")
    if not _is_current(run, attempt, report):
        return _audit(state, report, "late")
    state.results[attempt.key] = Result(attempt.key, report.digest, report.status, report.decision)
    status = LEGAL_RESULTS[report.status, report.decision]
    if attempt.terminal:
        _correct(state, run, attempt, status, report.decision, now)
    else:
        end_run(state, run, status, f"runner_result_{status}", now, decision=report.decision)
    return "accepted"


def _is_current(run: Run, attempt: Attempt, report: Report) -> bool:
    if run.attempt != attempt.key or run.retry_number != report.retry_number:
        return False
    if not attempt.terminal:
        return not run.terminal and attempt.status != "queued"  # nobody was sent to work on it
    return attempt.inferred and attempt.status in {"failed", "timed_out"} and run.decision is None


def _correct(state: State, run: Run, attempt: Attempt, status: str, decision: str, now: int) -> None:
    move_attempt(state, attempt, status, "runner_result_corrected", now, inferred=False)
    run = move_run(state, run, status, "runner_result_corrected", now, decision=decision)
    raise_publication(state, run)


def _audit(state: State, report: Report, outcome: str) -> str:
    """On record once: the same bytes for the same attempt and outcome again answer the same audit id."""
    audit = Audit(report.attempt, outcome, report.digest, report.status, report.decision)
    if audit not in state.audits:
        state.audits.append(audit)
    return outcome
