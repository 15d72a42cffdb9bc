"""The calls that race, as the program makes them; each answers its outcome in one word."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID, uuid4

from boardreadyops.db import dispatches, leases, outbox, publications, results, runners, runs, sweeps
from boardreadyops.db.leases import LeaseGrant
from boardreadyops.db.metadata import put_installation
from boardreadyops.db.pool import Connection
from boardreadyops.domain.identity import InstallationState, Observation
from tests.races.scheduler import Call


def enqueue(seen: Observation, *, confirmed: int | None = None) -> Call:
    async def call(connection: Connection) -> str:
        answer = await runs.enqueue_release_run(connection, seen, confirmed_observation=confirmed)
        return answer.outcome + (" asks" if answer.confirm_requested else "")

    return call


def push(before: str, after: str) -> Call:
    async def call(connection: Connection) -> str:
        answer = await runs.enqueue_pushed_ref(
            connection,
            installation_id=1,
            repository_id=10,
            ref="refs/heads/main",
            before=before,
            commit_sha=after,
            confirmed_observation=None,
        )
        return answer.outcome

    return call


def close(seen: Observation) -> Call:
    async def call(connection: Connection) -> str:
        return (await runs.close_ref(connection, replace(seen, open=False))).outcome

    return call


def cancel(run_id: UUID) -> Call:
    async def call(connection: Connection) -> str:
        answer = await runs.cancel_release_run(
            connection,
            installation_id=1,
            release_run_id=run_id,
            reason_code="cancelled_by_user",
            cancelled_by="octocat",
        )
        return answer.outcome

    return call


def suspend() -> Call:
    return _installation(suspended=True)


def unsuspend() -> Call:
    return _installation(suspended=False)


def _installation(*, suspended: bool) -> Call:
    async def call(connection: Connection) -> str:
        state = InstallationState(
            installation_id=1,
            account_login="acme",
            account_id=7,
            suspended=suspended,
            removed=False,
            observed_at=datetime.now(UTC),
        )
        return "written" if await put_installation(connection, state) else "older"

    return call


def cancel_installation() -> Call:
    async def call(connection: Connection) -> str:
        count = await runs.cancel_installation_runs(
            connection, installation_id=1, reason_code="installation_suspended", limit=10
        )
        return f"{count} cancelled"

    return call


def resume_installation() -> Call:
    async def call(connection: Connection) -> str:
        count = await sweeps.resume_installation(connection, installation_id=1, limit=10)
        return f"{count} due"

    return call


def retry(run_id: UUID, expected: int = 0) -> Call:
    async def call(connection: Connection) -> str:
        answer = await runs.retry_release_run(
            connection, installation_id=1, release_run_id=run_id, expected_retry_number=expected
        )
        return answer.outcome

    return call


def approve(run_id: UUID) -> Call:
    async def call(connection: Connection) -> str:
        return await runs.approve_release_run(
            connection, installation_id=1, release_run_id=run_id, approved_by="octocat"
        )

    return call


def claim(runner: UUID, request_id: UUID | None = None) -> Call:
    request_id = request_id or uuid4()

    async def call(connection: Connection) -> str:
        answer = await leases.claim_runner_lease(
            connection, registration_id=runner, request_id=request_id, capabilities=()
        )
        return answer.outcome

    return call


def heartbeat(lease_id: UUID, stage: str) -> Call:
    async def call(connection: Connection) -> str:
        answer = await leases.heartbeat_runner_lease(
            connection, lease_id=lease_id, stage=stage, progress=5, message=""
        )
        assert answer is not None
        return answer.directive if answer.directive == "continue" else f"stop {answer.lease_state}"

    return call


def relinquish(lease_id: UUID, reason: str = "shutdown") -> Call:
    async def call(connection: Connection) -> str:
        return await leases.relinquish_runner_lease(
            connection, lease_id=lease_id, reason=reason, message="", needs=()
        )

    return call


def revoke(runner: UUID) -> Call:
    async def call(connection: Connection) -> str:
        return await runners.revoke_runner(connection, registration_id=runner)

    return call


def expire(*lease_ids: UUID) -> Call:
    async def call(connection: Connection) -> str:
        found = await sweeps.expire_runner_leases(
            connection, limit=10, only_lease_id=lease_ids[0] if lease_ids else None
        )
        return ",".join(expiry.outcome for expiry in found) or "nothing"

    return call


def time_out() -> Call:
    async def call(connection: Connection) -> str:
        found = await sweeps.sweep_deadlines(connection, limit=10)
        return ",".join(over.reason_code for over in found) or "nothing"

    return call


def level() -> Call:
    async def call(connection: Connection) -> str:
        found = await sweeps.sweep_levels(connection, limit=10)
        return ",".join(looked.outcome for looked in found) or "nothing"

    return call


def result(
    grant: LeaseGrant, status: str = "completed", decision: str = "pass", *, body: bytes = b"{}"
) -> Call:
    return report(
        grant.release_run_id,
        grant.execution_attempt_id,
        grant.retry_id,
        grant.registration_id,
        status,
        decision,
        body=body,
    )


def report(
    run_id: UUID,
    attempt_id: UUID,
    retry_id: UUID,
    registration_id: UUID | None = None,
    status: str = "completed",
    decision: str = "pass",
    *,
    body: bytes = b"{}",
) -> Call:
    told = results.ReportedResult(
        release_run_id=run_id,
        execution_attempt_id=attempt_id,
        retry_id=retry_id,
        registration_id=registration_id,
        body_sha256=hashlib.sha256(body).digest(),
        status=status,
        decision=decision,
        summary="",
        error_count=0,
        warning_count=0,
        details={},
    )

    async def call(connection: Connection) -> str:
        return (await results.record_runner_result(connection, told)).outcome

    return call


def begin(effect: tuple[int, int]) -> Call:
    async def call(connection: Connection) -> str:
        begun = await dispatches.begin_workflow_dispatch(
            connection, effect_id=effect[0], generation=effect[1]
        )
        return begun.outcome

    return call


def acknowledge_dispatch(effect_id: int, workflow_run_id: int = 77) -> Call:
    async def call(connection: Connection) -> str:
        return await dispatches.acknowledge_workflow_dispatch(
            connection, effect_id=effect_id, workflow_run_id=workflow_run_id, workflow_run_attempt=1
        )

    return call


def give_up(effect: tuple[int, int], cause: Literal["refused", "silent"] = "silent") -> Call:
    async def call(connection: Connection) -> str:
        return await dispatches.give_up_workflow_dispatch(
            connection, effect_id=effect[0], generation=effect[1], cause=cause
        )

    return call


def reconcile(status: str, *, workflow_run_attempt: int = 1, grace_seconds: int = 0) -> Call:
    async def call(connection: Connection) -> str:
        return await dispatches.reconcile_workflow_run(
            connection,
            repository_id=10,
            execution_attempt_id=None,
            workflow_run_id=77,
            workflow_run_attempt=workflow_run_attempt,
            workflow_status=status,
            grace_seconds=grace_seconds,
        )

    return call


def claim_effects() -> Call:
    async def call(connection: Connection) -> str:
        claimed = await outbox.claim_outbox(connection, limit=10, lease_seconds=60)
        return f"{len(claimed)} claimed" if claimed else "nothing"

    return call


def claim_checks(claimed: list[publications.ClaimedPublication]) -> Call:
    """The rows are left in `claimed`, for the acknowledgement that follows."""

    async def call(connection: Connection) -> str:
        claimed[:] = await publications.claim_publications(
            connection, limit=10, lease_seconds=60, doubt_seconds=60
        )
        return f"{len(claimed)} claimed"

    return call


def acknowledge_checks(claimed: Sequence[publications.ClaimedPublication]) -> Call:
    async def call(connection: Connection) -> str:
        said = [
            await publications.acknowledge_publication(
                connection, publication_id=row.publication_id, generation=row.generation, seq=row.seq
            )
            for row in claimed
        ]
        return ",".join(said) or "nothing"

    return call


def record_verification(due: publications.DueVerification, finding: Literal["different", "frozen"]) -> Call:
    async def call(connection: Connection) -> str:
        return await publications.record_verification(
            connection, publication_id=due.publication_id, seq=due.seq, finding=finding
        )

    return call
