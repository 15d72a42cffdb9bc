"""The work of one lease: checkout, checks, and a result whatever happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from boardreadyops.agent.checkout import CheckoutLimits, Source, SourceProblem, checkout
from boardreadyops.agent.workspace import private_workspace
from boardreadyops.checks.run import check_repository
from boardreadyops.kicad.runner import KicadRunner
from boardreadyops.runner.protocol import LeaseAnswer, Stage
from boardreadyops.runner.result import Check, ResultV1

MAX_CHECK_SECONDS = 3_600.0  # for all checks of a commit; the lease's maximum may leave less
REPORT_MARGIN_SECONDS = 30.0  # left for the report before the lease can no longer be extended


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where and with what a runner works."""

    work_folder: Path
    search_path: str
    kicad: KicadRunner
    limits: CheckoutLimits = field(default_factory=CheckoutLimits)


async def check_commit(
    lease: LeaseAnswer,
    source: Source,
    bench: Bench,
    announce: Callable[[Stage], Awaitable[None]],
    *,
    deadline: float,
) -> ResultV1:
    """Fetch the commit and check it in a folder that is gone afterwards; `announce` is told what begins.

    `deadline` is when the lease ends for good, at this machine's monotonic clock.
    """
    with private_workspace(bench.work_folder) as workspace:
        root, scratch = workspace / "source", workspace / "checks"
        root.mkdir(mode=0o700)
        scratch.mkdir(mode=0o700)
        problem = await checkout(source, root, search_path=bench.search_path, limits=bench.limits)
        if problem is not None:
            return source_result(lease, problem)
        await announce("running")
        timeout_seconds = check_seconds(deadline - monotonic())
        report = await check_repository(root, scratch, bench.kicad, timeout_seconds=timeout_seconds)
    asked = {
        "schema": 1,
        "release_run_id": str(lease.release_run_id),
        "execution_attempt_id": str(lease.execution_attempt_id),
        "retry_id": str(lease.retry_id),
    }
    return ResultV1.model_validate(asked | report.to_json())


def check_seconds(remaining_seconds: float) -> float:
    """How long the checks may take when the lease can live this much longer."""
    margin_seconds = min(REPORT_MARGIN_SECONDS, remaining_seconds / 10)
    return max(0.0, min(MAX_CHECK_SECONDS, remaining_seconds - margin_seconds))


def source_result(lease: LeaseAnswer, problem: SourceProblem) -> ResultV1:
    """The result of a commit that could not be fetched: never a word about the board."""
    return _could_not_check(
        lease, problem.value, Check(name="source", state="could_not_run", reason=problem.value)
    )


def _could_not_check(lease: LeaseAnswer, words: str, *checks: Check) -> ResultV1:
    return ResultV1(
        release_run_id=lease.release_run_id,
        execution_attempt_id=lease.execution_attempt_id,
        retry_id=lease.retry_id,
        status="failed",
        decision="error",
        summary=f"Could not check this board: {words}.",
        checks=list(checks),
    )
