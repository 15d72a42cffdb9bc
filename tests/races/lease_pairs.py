"""Leases: heartbeat, expiry, result, cancellation, deadline."""

from __future__ import annotations

from collections.abc import Sequence

from tests.races import calls
from tests.races.arena import Arena
from tests.races.pairs import race
from tests.races.scheduler import Script, script


@race(
    "heartbeat x expiry",
    ("continue", "nothing", "a running (in_progress under active)"),
    ("continue", "rearmed", "a running (in_progress under active)"),
    ("stop expired", "requeued", "a queued (stale under expired)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.overdue()
    return script("heartbeat", calls.heartbeat(grant.lease_id, "claimed")), script("expiry", calls.expire())


@race(
    "heartbeat of a later stage x expiry",
    ("continue", "nothing", "a running (reporting under active)"),
    ("continue", "rearmed", "a running (reporting under active)"),
    ("stop expired", "requeued", "a queued (stale under expired)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.overdue()
    return script("heartbeat", calls.heartbeat(grant.lease_id, "reporting")), script("expiry", calls.expire())


@race(
    "expiry x result",
    ("nothing", "accepted", "a completed/pass (completed under completed)"),
    ("requeued", "late", "a queued (stale under expired)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.overdue()
    return script("expiry", calls.expire()), script("result", calls.result(grant))


@race(
    "cancel x result",
    ("applied", "late", "a cancelled (cancelled under cancelled)"),
    ("terminal", "accepted", "a completed/pass (completed under completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return script("cancel", calls.cancel(grant.release_run_id)), script("result", calls.result(grant))


@race(
    "timeout x heartbeat",
    ("nothing", "continue", "a running (in_progress under active)"),
    ("run_deadline_exceeded", "continue", "a timed_out (timed_out under timed_out)"),
    ("run_deadline_exceeded", "stop timed_out", "a timed_out (timed_out under timed_out)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    await arena.late()
    return script("timeout", calls.time_out()), script(
        "heartbeat", calls.heartbeat(grant.lease_id, "claimed")
    )


@race(
    "timeout x heartbeat of a later stage",
    ("nothing", "continue", "a running (reporting under active)"),
    ("run_deadline_exceeded", "continue", "a timed_out (timed_out under timed_out)"),
    ("run_deadline_exceeded", "stop timed_out", "a timed_out (timed_out under timed_out)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    await arena.late()
    return script("timeout", calls.time_out()), script(
        "heartbeat", calls.heartbeat(grant.lease_id, "reporting")
    )


@race(
    "timeout x result",
    ("nothing", "accepted", "a completed/pass (completed under completed)"),
    ("run_deadline_exceeded", "accepted", "a completed/pass (completed under timed_out)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    await arena.late()
    return script("timeout", calls.time_out()), script("result", calls.result(grant))


@race(
    "timeout x expiry",
    ("nothing", "nothing", "a running because runner_lease_claimed (in_progress under active)"),
    ("nothing", "requeued", "a queued because runner_lease_expired (stale under expired)"),
    (
        "run_deadline_exceeded",
        "nothing",
        "a timed_out because run_deadline_exceeded (timed_out under timed_out)",
    ),
    tells=("why",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.overdue()
    await arena.late()
    return script("timeout", calls.time_out()), script("expiry", calls.expire())


@race(
    "result x its own heartbeat of a later stage",
    ("accepted", "continue", "a completed/pass (completed under completed)"),
    ("accepted", "stop completed", "a completed/pass (completed under completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return script("result", calls.result(grant)), script(
        "heartbeat", calls.heartbeat(grant.lease_id, "reporting")
    )


@race(
    "relinquish x expiry",
    ("accepted", "nothing", "a queued (stale under relinquished)"),
    ("stale", "requeued", "a queued (stale under expired)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.overdue()
    return script("relinquish", calls.relinquish(grant.lease_id)), script("expiry", calls.expire())


@race(
    "relinquish x result",
    ("accepted", "late", "a queued (stale under relinquished)"),
    ("stale", "accepted", "a completed/pass (completed under completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return script("relinquish", calls.relinquish(grant.lease_id)), script("result", calls.result(grant))


@race(
    "two results that agree",
    ("accepted", "replayed", "a completed/pass (completed under completed)"),
    ("replayed", "accepted", "a completed/pass (completed under completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return script("one", calls.result(grant)), script("other", calls.result(grant))


@race(
    "two results that do not agree",
    ("accepted", "conflict", "a completed/pass (completed under completed)"),
    ("conflict", "accepted", "a completed/fail (completed under completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return script("pass", calls.result(grant)), script(
        "fail", calls.result(grant, decision="fail", body=b"[]")
    )
