"""Check Runs: claimed, acknowledged, told anew."""

from __future__ import annotations

from collections.abc import Sequence

from boardreadyops.db.leases import LeaseGrant
from boardreadyops.db.publications import ClaimedPublication, claim_publications, claim_verifications
from tests.races import calls
from tests.races.arena import SHA_B, Arena
from tests.races.pairs import race, timed_out
from tests.races.scheduler import Script, script


@race(
    "publication claim and acknowledgement x supersede",
    ("0 claimed+nothing", "created", "a superseded; b queued; a0.0 superseded due, b0.0 queued due"),
    ("1 claimed+applied", "created", "a superseded; b queued; a0.0 superseded due, b0.0 queued due"),
    (
        "2 claimed+applied,applied",
        "created",
        "a superseded; b queued; a0.0 superseded told, b0.0 queued told",
    ),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    claimed: list[ClaimedPublication] = []
    return (
        script("relay", calls.claim_checks(claimed), calls.acknowledge_checks(claimed)),
        script("supersede", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "two relays",
    ("0 claimed+nothing", "1 claimed+applied", "a queued; a0.0 queued told"),
    ("1 claimed+applied", "0 claimed+nothing", "a queued; a0.0 queued told"),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    one: list[ClaimedPublication] = []
    other: list[ClaimedPublication] = []
    return (
        script("one", calls.claim_checks(one), calls.acknowledge_checks(one)),
        script("other", calls.claim_checks(other), calls.acknowledge_checks(other)),
    )


@race(
    "publication acknowledgement x retry",
    (
        "applied",
        "created",
        "a queued retry 1 (timed_out under timed_out); a0.0 timed_out told, a1.0 queued due",
    ),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await timed_out(arena)
    claimed = await claim_publications(arena.app, limit=10, lease_seconds=60, doubt_seconds=60)
    return (
        script("acknowledge", calls.acknowledge_checks(claimed)),
        script("retry", calls.retry(grant.release_run_id)),
    )


async def _shared(arena: Arena) -> tuple[LeaseGrant, Sequence[ClaimedPublication]]:
    """Two open pull requests of one commit; the second was closed and its neutral check is about to be acknowledged."""
    grant = await arena.leased()
    await arena.told(900)
    await arena.opened(other=1)
    await arena.told(901)
    await calls.close(arena.seen(minute=1, other=1))(arena.app)
    claimed = await claim_publications(arena.app, limit=10, lease_seconds=60, doubt_seconds=60)
    assert [row.payload["status"] for row in claimed] == ["cancelled"]
    return grant, claimed


@race(
    "republish x close",
    (
        "applied",
        "closed",
        "a cancelled (cancelled under cancelled); a cancelled; a0.0 cancelled due, a0.0 cancelled told",
    ),
    (
        "applied",
        "closed",
        "a cancelled (cancelled under cancelled); a cancelled; a0.0 cancelled due, a0.1 cancelled due, a0.0 cancelled told",
    ),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    _, claimed = await _shared(arena)
    return (
        script("acknowledge", calls.acknowledge_checks(claimed)),
        script("close", calls.close(arena.seen(minute=2, other=0))),
    )


@race(
    "republish x result",
    (
        "applied",
        "accepted",
        "a completed/pass (completed under completed); a cancelled; a0.0 completed due, a0.1 completed due, a0.0 cancelled told",
    ),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant, claimed = await _shared(arena)
    return script("acknowledge", calls.acknowledge_checks(claimed)), script("result", calls.result(grant))


@race(
    "two read-backs of one check",
    ("applied", "stale", "a queued; a0.0 queued due"),
    ("stale", "applied", "a queued; a0.0 queued due"),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    await arena.told(900)
    await arena.owner.execute("UPDATE publications SET verify_at = now()")
    (due,) = await claim_verifications(arena.app, limit=1, lease_seconds=60)
    return (
        script("one", calls.record_verification(due, "different")),
        script("other", calls.record_verification(due, "different")),
    )


@race(
    "read-back of a frozen check x cancel",
    ("applied", "applied", "a cancelled; a0.0 cancelled due, a0.1 cancelled due"),
    ("stale", "applied", "a cancelled; a0.0 cancelled due"),
    tells=("checks",),
)
async def _(arena: Arena) -> Sequence[Script]:
    run_id = await arena.opened()
    await arena.told(900)
    await arena.owner.execute("UPDATE publications SET verify_at = now()")
    (due,) = await claim_verifications(arena.app, limit=1, lease_seconds=60)
    return script("read-back", calls.record_verification(due, "frozen")), script(
        "cancel", calls.cancel(run_id)
    )
