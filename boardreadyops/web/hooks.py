"""`POST /webhooks/github`: one delivery, one transaction, one answer. Nothing here can call GitHub."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never
from uuid import UUID

import orjson
from fastapi import APIRouter, Request, Response

from boardreadyops.config import Settings
from boardreadyops.db.deliveries import (
    DeliveryAction,
    DeliveryStatus,
    StoredDelivery,
    record_delivery,
    settle_delivery,
)
from boardreadyops.db.metadata import note_installation, put_installation, put_repository
from boardreadyops.db.pool import Connection, run_transaction
from boardreadyops.db.runs import cancel_installation_runs, close_ref, enqueue_release_run
from boardreadyops.db.sweeps import resume_installation
from boardreadyops.github.webhooks import (
    Delivery,
    Ignored,
    InstallationSeen,
    PullRequestSeen,
    Rejection,
    classify,
    receive,
)
from boardreadyops.web.bodies import unproven_body
from boardreadyops.web.problems import RETRY_AFTER_SECONDS, Problem
from boardreadyops.web.sessions import Services

MAX_BODY_BYTES = 25 * 1024 * 1024  # GitHub sends no larger ones
RESUME_BATCH_REFS = 500  # open refs of an installation that is back, marked in one call
CANCEL_BATCH_ROWS = 500  # open runs of a removed or suspended installation ended in one call

router = APIRouter(include_in_schema=False)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """What a new delivery led to."""

    status: DeliveryStatus
    actions: tuple[DeliveryAction, ...] = ()
    reason: str | None = None


@router.post("/webhooks/github")
async def receive_webhook(request: Request, services: Services) -> Response:
    """Take a delivery of GitHub's; safe to repeat: its id is taken once, and answered the same again."""
    places: asyncio.Semaphore = request.app.state.large_bodies
    async with unproven_body(request, limit_bytes=MAX_BODY_BYTES, places=places) as body:
        delivery = receive(request.headers, body, _secrets(services.settings))
        del body  # a large one need not outlive its reading
    if isinstance(delivery, Rejection):
        raise _refused(delivery)
    seen = classify(delivery)
    if isinstance(seen, Rejection):
        raise _refused(seen)

    async def take(connection: Connection) -> StoredDelivery | Settled:
        return await _take(connection, delivery, seen)

    taken = await run_transaction(services.app_database, take)
    if isinstance(taken, StoredDelivery):
        if taken.body_sha256 != delivery.body_sha256:
            log.warning(
                "delivery %s came again with another body; the first one counts", delivery.delivery_id
            )
        return _answer(200, "duplicate", delivery.delivery_id, taken.actions, taken.reason)
    if any(action["kind"] == "enqueue" for action in taken.actions):
        services.work.wake()
    return _answer(202, taken.status, delivery.delivery_id, taken.actions, taken.reason)


async def _take(
    connection: Connection, delivery: Delivery, seen: Ignored | PullRequestSeen | InstallationSeen
) -> StoredDelivery | Settled:
    """Everything a delivery does, in the order of locks: delivery, installation, repository, ref, runs."""
    before = await record_delivery(
        connection,
        delivery_id=delivery.delivery_id,
        event=delivery.event,
        action=delivery.action,
        installation_id=delivery.installation_id,
        body_sha256=delivery.body_sha256,
    )
    if before is not None:
        return before
    settled = await _act(connection, seen)
    await settle_delivery(
        connection,
        delivery_id=delivery.delivery_id,
        status=settled.status,
        reason=settled.reason,
        actions=settled.actions,
    )
    return settled


async def _act(connection: Connection, seen: Ignored | PullRequestSeen | InstallationSeen) -> Settled:
    match seen:
        case Ignored():
            return Settled("ignored", reason=seen.reason)
        case PullRequestSeen():
            return await _observe(connection, seen)
        case InstallationSeen():
            return await _keep_installation(connection, seen)
        case _ as never:
            assert_never(never)


async def _observe(connection: Connection, seen: PullRequestSeen) -> Settled:
    installation_id = seen.observation.installation_id
    await note_installation(
        connection,
        installation_id=installation_id,
        account_login=seen.account_login,
        account_id=seen.account_id,
    )
    await put_repository(
        connection, installation_id, seen.repository, observed_at=seen.observation.observed_at
    )
    return await (_enqueue if seen.observation.open else _close)(connection, seen)


async def _enqueue(connection: Connection, seen: PullRequestSeen) -> Settled:
    enqueued = await enqueue_release_run(connection, seen.observation)
    confirm = (_confirm(),) if enqueued.confirm_requested else ()
    match enqueued.outcome:
        case "created" | "existing" | "superseded":
            assert enqueued.release_run_id is not None
            return Settled("accepted", (_enqueued(enqueued.release_run_id, enqueued.outcome), *confirm))
        case "ignored" | "moved_on":
            return Settled("accepted", confirm)
        case "disabled":
            return Settled("ignored", reason="disabled")
        case "not_found":
            return Settled("ignored", reason="repository_of_another_installation")
        case _ as never:
            assert_never(never)


async def _close(connection: Connection, seen: PullRequestSeen) -> Settled:
    closed = await close_ref(connection, seen.observation)
    match closed.outcome:
        case "closed":
            return Settled("accepted", tuple(_cancelled(run_id) for run_id in closed.cancelled_run_ids))
        case "older" | "ask":
            return Settled("accepted", (_confirm(),))
        case "moved_on":
            return Settled("accepted")
        case "not_found":
            return Settled("ignored", reason="repository_of_another_installation")
        case _ as never:
            assert_never(never)


async def _keep_installation(connection: Connection, seen: InstallationSeen) -> Settled:
    state = seen.state
    newest = await put_installation(connection, state)
    for repository in seen.repositories:
        await put_repository(connection, state.installation_id, repository, observed_at=state.observed_at)
    if not newest:
        return Settled("accepted")
    actions: list[DeliveryAction] = [{"kind": "metadata"}]
    if state.removed or state.suspended:
        reason_code = "installation_removed" if state.removed else "installation_suspended"
        count = await _cancel_all(connection, state.installation_id, reason_code)
        if count:
            actions.append({"kind": "cancel", "release_run_id": None, "count": count})
    else:
        await _resume(connection, state.installation_id)
    return Settled("accepted", tuple(actions))


async def _cancel_all(connection: Connection, installation_id: int, reason_code: str) -> int:
    total = 0
    while True:
        count = await cancel_installation_runs(
            connection, installation_id=installation_id, reason_code=reason_code, limit=CANCEL_BATCH_ROWS
        )
        total += count
        if count < CANCEL_BATCH_ROWS:
            return total


async def _resume(connection: Connection, installation_id: int) -> None:
    while True:
        count = await resume_installation(
            connection, installation_id=installation_id, limit=RESUME_BATCH_REFS
        )
        if count < RESUME_BATCH_REFS:
            return


def _enqueued(run_id: UUID, outcome: str) -> DeliveryAction:
    return {"kind": "enqueue", "release_run_id": str(run_id), "outcome": outcome}


def _cancelled(run_id: UUID) -> DeliveryAction:
    return {"kind": "cancel", "release_run_id": str(run_id)}


def _confirm() -> DeliveryAction:
    return {"kind": "confirm"}


def _secrets(settings: Settings) -> tuple[bytes, ...]:
    both = (settings.github_webhook_secret, settings.github_webhook_secret_previous)
    return tuple(secret.reveal().encode() for secret in both if secret is not None)


def _refused(rejection: Rejection) -> Problem:
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if rejection.status == 503 else {}
    return Problem(rejection.status, rejection.code, rejection.detail, headers)


def _answer(
    status: int, word: str, delivery_id: str, actions: Sequence[DeliveryAction], reason: str | None
) -> Response:
    document: dict[str, object] = {"status": word, "delivery_id": delivery_id, "actions": list(actions)}
    if reason is not None:
        document["reason"] = reason
    return Response(orjson.dumps(document), status, media_type="application/json")
