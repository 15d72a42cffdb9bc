"""States, edges and reason codes as PostgreSQL guards them; a test compares this table with the database's."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    """The states of a release run."""

    QUEUED = "queued"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class AttemptStatus(StrEnum):
    """The states of an execution attempt."""

    QUEUED = "queued"
    DISPATCHING = "dispatching"
    DISPATCHED = "dispatched"
    IN_PROGRESS = "in_progress"
    UPLOADING_ARTIFACTS = "uploading_artifacts"
    REPORTING = "reporting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    STALE = "stale"
    SUPERSEDED = "superseded"


TERMINAL_RUN_STATUSES = frozenset(
    {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.CANCELLED, RunStatus.SUPERSEDED}
)

_RUN_ENDINGS = (
    RunStatus.COMPLETED,
    RunStatus.FAILED,
    RunStatus.TIMED_OUT,
    RunStatus.CANCELLED,
    RunStatus.SUPERSEDED,
)
RUN_EDGES: dict[RunStatus, tuple[RunStatus, ...]] = {
    RunStatus.QUEUED: (RunStatus.DISPATCHED, RunStatus.RUNNING, *_RUN_ENDINGS),
    RunStatus.DISPATCHED: (RunStatus.RUNNING, *_RUN_ENDINGS),
    RunStatus.RUNNING: _RUN_ENDINGS,
}

_ATTEMPT_FAILURES = (
    AttemptStatus.FAILED,
    AttemptStatus.CANCELLED,
    AttemptStatus.TIMED_OUT,
    AttemptStatus.STALE,
    AttemptStatus.SUPERSEDED,
)
ATTEMPT_EDGES: dict[AttemptStatus, tuple[AttemptStatus, ...]] = {
    AttemptStatus.QUEUED: (AttemptStatus.DISPATCHING, *_ATTEMPT_FAILURES),
    AttemptStatus.DISPATCHING: (AttemptStatus.DISPATCHED, *_ATTEMPT_FAILURES),
    AttemptStatus.DISPATCHED: (AttemptStatus.IN_PROGRESS, *_ATTEMPT_FAILURES),
    AttemptStatus.IN_PROGRESS: (
        AttemptStatus.UPLOADING_ARTIFACTS,
        AttemptStatus.REPORTING,
        AttemptStatus.COMPLETED,
        *_ATTEMPT_FAILURES,
    ),
    AttemptStatus.UPLOADING_ARTIFACTS: (AttemptStatus.REPORTING, AttemptStatus.COMPLETED, *_ATTEMPT_FAILURES),
    AttemptStatus.REPORTING: (AttemptStatus.COMPLETED, *_ATTEMPT_FAILURES),
}

# Edges of one named function alone, never of the general transition: (from, to) by the reason code they carry.
NAMED_RUN_EDGES: dict[str, tuple[tuple[RunStatus, RunStatus], ...]] = {
    "retry_requested": tuple((ended, RunStatus.QUEUED) for ended in _RUN_ENDINGS),
    "head_returned": (
        (RunStatus.SUPERSEDED, RunStatus.QUEUED),
        (RunStatus.CANCELLED, RunStatus.QUEUED),
    ),
    "runner_lease_expired": ((RunStatus.RUNNING, RunStatus.QUEUED),),
    "runner_lease_relinquished": ((RunStatus.RUNNING, RunStatus.QUEUED),),
    "runner_lease_revoked": ((RunStatus.RUNNING, RunStatus.QUEUED),),
    "workflow_dispatch_failed": ((RunStatus.QUEUED, RunStatus.QUEUED),),
    "runner_result_corrected": tuple(
        (inferred, genuine)
        for inferred in (RunStatus.FAILED, RunStatus.TIMED_OUT)
        for genuine in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.TIMED_OUT)
    ),
}

# Every reason code with the plain sentence that stands beside it on a page.
REASONS: dict[str, str] = {
    "check_run_created": "GitHub shows the check; the workflow can be dispatched.",
    "workflow_dispatched": "The workflow was asked to run.",
    "workflow_dispatch_failed": "The workflow could not be started.",
    "workflow_reconciled": "The state was corrected from what GitHub shows.",
    "newer_commit": "A newer commit replaced this one.",
    "pull_request_closed": "The pull request was closed.",
    "cancelled_by_user": "A person cancelled the run.",
    "policy_skipped": "The installation's policy does not check forks.",
    "ref_deleted": "The branch or tag was deleted.",
    "installation_removed": "The App was uninstalled.",
    "installation_suspended": "The installation was suspended.",
    "repository_removed": "The repository was removed from the installation.",
    "approval_deadline_exceeded": "Nobody approved the run in time.",
    "queue_deadline_exceeded": "No runner took the run in time.",
    "start_deadline_exceeded": "The workflow did not start in time.",
    "run_deadline_exceeded": "The checks took longer than allowed.",
    "runner_lease_claimed": "A runner took the run.",
    "runner_lease_heartbeat": "The runner reached its next stage.",
    "runner_lease_relinquished": "The runner gave the run back.",
    "runner_lease_expired": "The runner was not heard from in time.",
    "runner_lease_revoked": "The runner was revoked.",
    "runner_attempts_exhausted": "No runner could finish the run, however often it was tried.",
    "runner_result_completed": "The runner reported its decision.",
    "runner_result_failed": "The runner reported that it could not check the board.",
    "runner_result_timed_out": "The runner reported that the checks took too long.",
    "runner_result_corrected": "The runner's own result replaced an inferred failure.",
    "retry_requested": "The run was asked again.",
    "head_returned": "This commit is the head again, so it was asked again.",
}
