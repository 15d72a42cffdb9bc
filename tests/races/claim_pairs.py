"""Claims and revocations; and the grace that leases get after an outage of ours."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from boardreadyops.db.leases import LeaseGrant
from tests.races import calls
from tests.races.arena import SHA_B, Arena
from tests.races.pairs import race
from tests.races.scheduler import Script, script


@race(
    "two claimers, one run",
    ("created", "none", "a running (in_progress under active)"),
    ("none", "created", "a running (in_progress under active)"),
    ("none", "none", "a queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    return [script(name, calls.claim(await arena.runner())) for name in ("one", "other")]


@race(
    "two claimers, two runs",
    ("created", "created", "a running (in_progress under active); b running (in_progress under active)"),
    ("none", "none", "a queued; b queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    await arena.opened(SHA_B, other=1)
    return [script(name, calls.claim(await arena.runner())) for name in ("one", "other")]


@race(
    "one claim sent twice",
    ("created", "existing", "a running (in_progress under active)"),
    ("created", "none", "a running (in_progress under active)"),
    ("existing", "created", "a running (in_progress under active)"),
    ("none", "created", "a running (in_progress under active)"),
    ("none", "none", "a queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    runner, request_id = await arena.runner(), uuid4()
    return tuple(script(name, calls.claim(runner, request_id)) for name in ("one", "other"))


@race(
    "claim x cancel",
    ("created", "applied", "a cancelled (cancelled under cancelled)"),
    ("none", "applied", "a cancelled"),
)
async def _(arena: Arena) -> Sequence[Script]:
    run_id = await arena.opened()
    return script("claim", calls.claim(await arena.runner())), script("cancel", calls.cancel(run_id))


@race(
    "sweep x claim",
    ("nothing", "created", "a running (in_progress under active)"),
    ("nothing", "none", "a queued"),
    ("queue_deadline_exceeded", "none", "a timed_out"),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    await arena.late()
    return script("sweep", calls.time_out()), script("claim", calls.claim(await arena.runner()))


@race(
    "claim x supersede",
    ("created", "created", "a superseded (superseded under superseded); b queued"),
    ("created", "created", "a superseded; b running (in_progress under active)"),
    ("none", "created", "a superseded; b queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    return (
        script("claim", calls.claim(await arena.runner())),
        script("supersede", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "revoke x heartbeat",
    ("applied", "continue", "a queued (stale under revoked)"),
    ("applied", "stop revoked", "a queued (stale under revoked)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return (
        script("revoke", calls.revoke(grant.registration_id)),
        script("heartbeat", calls.heartbeat(grant.lease_id, "claimed")),
    )


@race(
    "revoke x heartbeat of a later stage",
    ("applied", "continue", "a queued (stale under revoked)"),
    ("applied", "stop revoked", "a queued (stale under revoked)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return (
        script("revoke", calls.revoke(grant.registration_id)),
        script("heartbeat", calls.heartbeat(grant.lease_id, "reporting")),
    )


async def _two_leases_and_an_outage(arena: Arena) -> list[LeaseGrant]:
    """One runner holds two leases, taken against the order of their runs' ids; no sweep has looked for an hour."""
    while True:
        runner = await arena.runner()
        await arena.opened()
        first = await arena.claimed(runner)
        await arena.opened(SHA_B, other=1)
        second = await arena.claimed(runner)
        if second.release_run_id < first.release_run_id:
            break
        await arena.empty()
    await arena.owner.execute("UPDATE sweep_marks SET swept_at = swept_at - interval '1 hour'")
    await arena.owner.execute("UPDATE runner_leases SET expires_at = claimed_at, next_check_at = claimed_at")
    return [first, second]


@race(
    "grace after an outage x revoke",
    ("nothing", "applied", "a queued (stale under revoked); b queued (stale under revoked)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    first, _ = await _two_leases_and_an_outage(arena)
    return script("grace", calls.expire()), script("revoke", calls.revoke(first.registration_id))


@race(
    "grace after an outage x timeout",
    ("nothing", "nothing", "a running (in_progress under active); b running (in_progress under active)"),
    (
        "nothing",
        "run_deadline_exceeded,run_deadline_exceeded",
        "a timed_out (timed_out under timed_out); b timed_out (timed_out under timed_out)",
    ),
)
async def _(arena: Arena) -> Sequence[Script]:
    first, second = await _two_leases_and_an_outage(arena)
    await arena.late(second.release_run_id, first.release_run_id)
    return script("grace", calls.expire()), script("timeout", calls.time_out())


@race(
    "grace after an outage x heartbeat",
    ("nothing", "continue", "a running (in_progress under active); b running (in_progress under active)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    _, second = await _two_leases_and_an_outage(arena)
    return script("grace", calls.expire()), script("heartbeat", calls.heartbeat(second.lease_id, "claimed"))


@race(
    "revoke x claim",
    ("applied", "created", "a queued (stale under revoked)"),
    ("applied", "none", "a queued"),
    ("applied", "revoked", "a queued"),
    # A claim only locks its registration, so a repeatable read that revokes it would not see the lease.
    isolations=("read committed",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    runner = await arena.runner()
    return script("revoke", calls.revoke(runner)), script("claim", calls.claim(runner))
