"""`/runner/v1`: what runners ask and tell. Tokens are digests or HMACs; a lease's token opens that lease alone."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Annotated, assert_never
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from boardreadyops.db.leases import (
    LeaseClaim,
    LeaseGrant,
    claim_runner_lease,
    heartbeat_runner_lease,
    lease_grant,
    relinquish_runner_lease,
)
from boardreadyops.db.pool import Connection, run_transaction
from boardreadyops.db.results import ReportedResult, record_runner_result
from boardreadyops.db.runners import Registration, find_registration, register_runner
from boardreadyops.github.requests import Failure
from boardreadyops.runner.credentials import lease_of, lease_token, new_token, token_digest
from boardreadyops.runner.protocol import (
    API_PREFIX,
    MAX_REQUEST_BYTES,
    MAX_RESULT_BYTES,
    HeartbeatAnswer,
    HeartbeatRequest,
    LeaseAnswer,
    LeaseRepository,
    LeaseRequest,
    RegistrationAnswer,
    RegistrationRequest,
    RelinquishAnswer,
    RelinquishRequest,
    ResultAnswer,
    ResultV1,
    SourceTokenAnswer,
)
from boardreadyops.runner.wire import Message
from boardreadyops.web.bodies import parsed, read_body, read_request
from boardreadyops.web.problems import RETRY_AFTER_SECONDS, Problem
from boardreadyops.web.sessions import Services, bearer_token
from boardreadyops.web.wiring import WebServices

HEARTBEATS_PER_LEASE = 6

router = APIRouter(prefix=API_PREFIX, include_in_schema=False)


@router.post("/registrations")
async def register(request: Request, services: Services) -> Response:
    """Turn an enrolment into a registration, once; its token is shown this once."""
    asked = await read_request(request, RegistrationRequest, limit_bytes=MAX_REQUEST_BYTES)
    token = new_token("brr_")
    async with services.app_database.transaction() as connection:
        answer = await register_runner(
            connection,
            enrollment_digest=token_digest(asked.enrollment_token),
            token_digest=token_digest(token),
            name=asked.name,
            runner_version=asked.version,
        )
    if answer.registration_id is None:
        raise Problem(403, "enrollment_refused", "This enrolment token is unknown, used or expired.")
    return _answer(201, RegistrationAnswer(registration_id=answer.registration_id, token=token))


@router.post("/leases")
async def claim_lease(request: Request, services: Services) -> Response:
    """Hand out the oldest run this runner may execute; waits for one. Safe to repeat with the same `request_id`."""
    registration = await _registration(request, services)
    asked = await read_request(request, LeaseRequest, limit_bytes=MAX_REQUEST_BYTES)
    give_up_at = asyncio.get_running_loop().time() + asked.wait_seconds
    while True:
        ticket = services.work.ticket()
        claim, grant = await _claim(services, registration.id, asked)
        match claim.outcome:
            case "created" | "existing":
                assert grant is not None
                return _answer(201 if claim.outcome == "created" else 200, _lease(services, grant))
            case "ended":
                raise Problem(409, "lease_ended", "The lease of this request has ended; ask with a new id.")
            case "revoked":
                raise _revoked()
            case "none":
                remaining_seconds = give_up_at - asyncio.get_running_loop().time()
                if remaining_seconds <= 0 or services.work.closed or await request.is_disconnected():
                    return Response(status_code=204)
                await services.work.wait(ticket, timeout_seconds=remaining_seconds)
                if await request.is_disconnected():
                    return Response(status_code=204)  # nobody would hold the lease
                # The token may have been rotated meanwhile.
                registration = await _registration(request, services)
            case _ as never:
                assert_never(never)


async def _claim(
    services: WebServices, registration_id: UUID, asked: LeaseRequest
) -> tuple[LeaseClaim, LeaseGrant | None]:
    async def work(connection: Connection) -> tuple[LeaseClaim, LeaseGrant | None]:
        claim = await claim_runner_lease(
            connection,
            registration_id=registration_id,
            request_id=asked.request_id,
            capabilities=asked.capabilities,
        )
        granted = claim.outcome in ("created", "existing") and claim.lease_id is not None
        return claim, await lease_grant(connection, claim.lease_id) if granted and claim.lease_id else None

    return await run_transaction(services.app_database, work)


async def held_lease(lease_id: UUID, request: Request, services: Services) -> LeaseGrant:
    """The lease whose token this request bears, active or ended; Problem 401, 403 or 404."""
    token = bearer_token(request)
    own = None if token is None else lease_of(services.secret_key, token.reveal())
    if own is None:
        raise Problem(401, "unknown_token", "Send the lease's token as a bearer token.", _CHALLENGE)
    if own != lease_id:
        raise Problem(403, "another_lease", "This token belongs to another lease.")
    async with services.app_database.connection() as connection:
        grant = await lease_grant(connection, lease_id)
    if grant is None:
        raise Problem(404, "not_found", "There is no such lease.")
    return grant


HeldLease = Annotated[LeaseGrant, Depends(held_lease)]


@router.post("/leases/{lease_id}/heartbeat")
async def heartbeat(request: Request, services: Services, lease: HeldLease) -> Response:
    """Extend the lease and tell the stage; an ended lease is told to stop. Idempotent."""
    told = await read_request(request, HeartbeatRequest, limit_bytes=MAX_REQUEST_BYTES)

    async def work(connection: Connection) -> HeartbeatAnswer:
        beat = await heartbeat_runner_lease(
            connection,
            lease_id=lease.lease_id,
            stage=told.stage,
            progress=told.progress,
            message=told.message,
        )
        assert beat is not None  # leases are never deleted while their token is good
        return HeartbeatAnswer(
            state=beat.lease_state,
            directive=beat.directive,
            reason=beat.reason,
            expires_in_seconds=beat.expires_in_seconds,
            maximum_expires_in_seconds=beat.maximum_expires_in_seconds,
        )

    return _answer(200, await run_transaction(services.app_database, work))


@router.post("/leases/{lease_id}/relinquish")
async def relinquish(request: Request, services: Services, lease: HeldLease) -> Response:
    """Give the run back to the queue; an ended lease changes nothing. Again it answers `replayed`."""
    told = await read_request(request, RelinquishRequest, limit_bytes=MAX_REQUEST_BYTES)

    async def work(connection: Connection) -> RelinquishAnswer:
        outcome = await relinquish_runner_lease(
            connection, lease_id=lease.lease_id, reason=told.reason, message=told.message, needs=told.needs
        )
        # Leases are never deleted while their token is good, and the message knows the reasons.
        assert outcome != "not_found"
        assert outcome != "invalid"
        return RelinquishAnswer(outcome=outcome)

    return _answer(200, await run_transaction(services.app_database, work))


@router.post("/leases/{lease_id}/source-token")
async def source_token(services: Services, lease: HeldLease) -> Response:
    """A token that reads the contents of this lease's repository and nothing else, while the lease is active."""
    if lease.state != "active" or lease.expires_in_seconds <= 0:
        raise Problem(409, "lease_ended", "The lease has ended; its source is closed to it.")
    if services.github is None:
        raise Problem(503, "github_not_configured", "This server has no GitHub App to ask for a token.")
    token = await services.github.installation_token(
        lease.installation_id, repository_ids=[lease.repository_id], permissions={"contents": "read"}
    )
    if isinstance(token, Failure):
        raise _no_source(token)
    return _answer(200, SourceTokenAnswer(token=token.secret, expires_at=token.expires_at))


@router.post("/leases/{lease_id}/result")
async def report_result(request: Request, services: Services, lease: HeldLease) -> Response:
    """Take the attempt's result. The same bytes again answer `replayed`; late and conflicting ones change nothing."""
    body = await read_body(request, limit_bytes=MAX_RESULT_BYTES)
    told = parsed(ResultV1, body)
    _refuse_foreign(told, lease)
    result = ReportedResult(
        release_run_id=told.release_run_id,
        execution_attempt_id=told.execution_attempt_id,
        retry_id=told.retry_id,
        registration_id=lease.registration_id,
        body_sha256=hashlib.sha256(body).digest(),
        status=told.status,
        decision=told.decision,
        summary=told.summary,
        error_count=told.error_count,
        warning_count=told.warning_count,
        details=told.details(),
    )

    async def work(connection: Connection) -> Response:
        recorded = await record_runner_result(connection, result)
        if recorded.outcome == "invalid_transition":
            raise Problem(422, "invalid_request", "status: does not go with this decision")
        status = {"accepted": 200, "replayed": 200, "late": 202, "conflict": 409, "not_found": 404}
        answer = ResultAnswer(outcome=recorded.outcome, audit_id=recorded.audit_id)
        return _answer(status[recorded.outcome], answer)

    return await run_transaction(services.app_database, work)


def _refuse_foreign(told: ResultV1, lease: LeaseGrant) -> None:
    """A lease speaks for its own attempt only; what others there are is none of its business."""
    named = (told.release_run_id, told.execution_attempt_id)
    if named != (lease.release_run_id, lease.execution_attempt_id):
        raise Problem(403, "another_lease", "The result names a run or attempt that is not this lease's.")
    if told.retry_id != lease.retry_id:
        raise Problem(422, "invalid_request", "retry_id: is not the one this lease was given")


async def _registration(request: Request, services: WebServices) -> Registration:
    token = bearer_token(request)
    if token is None:
        raise Problem(401, "unknown_token", "Send the runner's token as a bearer token.", _CHALLENGE)
    async with services.app_database.connection() as connection:
        registration = await find_registration(connection, token_digest=token_digest(token))
    if registration is None:
        raise Problem(401, "unknown_token", "No runner is registered with this token.", _CHALLENGE)
    if registration.revoked:
        raise _revoked()
    return registration


def _revoked() -> Problem:
    return Problem(401, "revoked", "This runner's registration was revoked.", _CHALLENGE)


def _no_source(failure: Failure) -> Problem:
    """GitHub gave no token: for good, or until later."""
    match failure.error_class:
        case "gone" | "denied":
            return Problem(502, "github_refused", f"GitHub refuses a token for this source: {failure.code}.")
        case "rate_limited" | "transient" | "uncertain":
            wait_seconds = max(RETRY_AFTER_SECONDS, int(failure.retry_after_seconds or 0))
            headers = {"Retry-After": str(wait_seconds)}
            return Problem(503, "github_unavailable", f"GitHub gives no token now: {failure.code}.", headers)
        case _ as never:
            assert_never(never)


def _lease(services: WebServices, grant: LeaseGrant) -> LeaseAnswer:
    owner, name = grant.repository_owner, grant.repository_name
    return LeaseAnswer(
        lease_id=grant.lease_id,
        lease_token=lease_token(services.secret_key, grant.lease_id),
        release_run_id=grant.release_run_id,
        execution_attempt_id=grant.execution_attempt_id,
        retry_id=grant.retry_id,
        retry_number=grant.retry_number,
        repository=LeaseRepository(
            id=grant.repository_id,
            owner=owner,
            name=name,
            private=grant.repository_private,
            clone_url=f"{services.settings.github_web_url}/{owner}/{name}.git",
        ),
        ref=grant.ref,
        pull_request_number=grant.pull_request_number,
        commit_sha=grant.commit_sha,
        base_sha=grant.base_sha,
        trust_mode=grant.trust_mode,
        heartbeat_seconds=max(1, grant.lease_seconds // HEARTBEATS_PER_LEASE),
        expires_in_seconds=grant.expires_in_seconds,
        maximum_expires_in_seconds=grant.maximum_expires_in_seconds,
    )


def _answer(status: int, message: Message) -> Response:
    headers = {"Cache-Control": "no-store"}  # many of these hold a token
    return Response(message.to_bytes(), status, headers, "application/json")


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="BoardReadyOps runners"'}
