"""States, edges and reasons as the design words them (§3), kept apart from the product's own tables on purpose."""

from __future__ import annotations

import re

RUN_TERMINAL = frozenset({"completed", "failed", "timed_out", "cancelled", "superseded"})
ATTEMPT_TERMINAL = frozenset({"completed", "failed", "cancelled", "timed_out", "stale", "superseded"})
RUN_EDGES = {
    "queued": frozenset({"dispatched", "running"}) | RUN_TERMINAL,
    "dispatched": frozenset({"running"}) | RUN_TERMINAL,
    "running": RUN_TERMINAL,
}
_BROKEN_OFF = ATTEMPT_TERMINAL - {"completed"}
ATTEMPT_EDGES = {
    "queued": _BROKEN_OFF | {"dispatching"},
    "dispatching": _BROKEN_OFF | {"dispatched"},
    "dispatched": _BROKEN_OFF | {"in_progress"},
    "in_progress": _BROKEN_OFF | {"uploading_artifacts", "reporting", "completed"},
    "uploading_artifacts": _BROKEN_OFF | {"reporting", "completed"},
    "reporting": _BROKEN_OFF | {"completed"},
}
STAGES = ("claimed", "preparing_source", "running", "uploading_artifacts", "reporting")
ATTEMPT_OF_STAGE = {"uploading_artifacts": "uploading_artifacts", "reporting": "reporting"}
LEGAL_RESULTS = {
    ("completed", "pass"): "completed",
    ("completed", "fail"): "completed",
    ("failed", "error"): "failed",
    ("timed_out", "error"): "timed_out",
}
# Endings that nobody reported: the genuine result of the same attempt may still correct them.
INFERRED_REASONS = frozenset(
    {"runner_attempts_exhausted", "start_deadline_exceeded", "run_deadline_exceeded", "workflow_reconciled"}
)
PERSON_OR_POLICY = frozenset({"cancelled_by_user", "policy_skipped"})
RESULT_REASONS = frozenset(
    {
        "runner_result_completed",
        "runner_result_failed",
        "runner_result_timed_out",
        "runner_result_corrected",
    }
)
_REASON = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")


def reason_is_legal(reason: str) -> bool:
    """1 to 128 characters of the one pattern."""
    return len(reason) <= 128 and _REASON.fullmatch(reason) is not None


def run_edge_of_named_function(start: str, end: str, reason: str) -> bool:
    """The edges of a run that exist inside one named function only."""
    match reason:
        case "runner_lease_relinquished" | "runner_lease_expired" | "runner_lease_revoked":
            return (start, end) == ("running", "queued")
        case "retry_requested" | "head_returned":
            return start in RUN_TERMINAL and end == "queued"
        case "workflow_dispatch_failed":
            return (start, end) == ("queued", "queued")
        case "runner_result_corrected":
            return start in {"failed", "timed_out"} and end in {"completed", "failed", "timed_out"}
        case _:
            return False


def attempt_edge_of_named_function(start: str, end: str, reason: str) -> bool:
    """The edges of an attempt that exist inside one named function only."""
    if reason == "runner_result_corrected":
        return start in {"failed", "timed_out"} and end in {"completed", "failed", "timed_out"}
    return (
        reason == "runner_result_completed" and start in {"dispatching", "dispatched"} and end == "completed"
    )
