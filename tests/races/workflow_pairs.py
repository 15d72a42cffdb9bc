"""Workflow dispatches and what GitHub says about workflow runs."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from boardreadyops.db.dispatches import acknowledge_workflow_dispatch, begin_workflow_dispatch
from tests.races import calls
from tests.races.arena import SHA_B, Arena
from tests.races.pairs import race
from tests.races.scheduler import Script, script


async def _started(arena: Arena) -> tuple[int, int]:
    effect = await arena.dispatching()
    await begin_workflow_dispatch(arena.app, effect_id=effect[0], generation=effect[1])
    return effect


async def _dispatched(arena: Arena) -> tuple[UUID, UUID, UUID]:
    effect = await _started(arena)
    await acknowledge_workflow_dispatch(
        arena.app, effect_id=effect[0], workflow_run_id=77, workflow_run_attempt=1
    )
    run = await arena.one("SELECT * FROM release_runs")
    return run["id"], run["execution_attempt_id"], run["retry_id"]


async def _reconcile(arena: Arena, status: str) -> str:
    return await calls.reconcile(status)(arena.app)


@race(
    "dispatch begin x supersede",
    ("begun", "created", "a superseded (superseded); b queued (queued); workflow_dispatch started"),
    ("ended", "created", "a superseded (superseded); b queued (queued); workflow_dispatch ended"),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    effect = await arena.dispatching()
    return (
        script("begin", calls.begin(effect)),
        script("supersede", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "dispatch acknowledge x supersede",
    (
        "applied",
        "created",
        "a superseded (superseded); b queued (queued); workflow_cancel due, workflow_dispatch dispatched",
    ),
    (
        "ended",
        "created",
        "a superseded (superseded); b queued (queued); workflow_cancel due, workflow_dispatch dispatched",
    ),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    effect = await _started(arena)
    return (
        script("acknowledge", calls.acknowledge_dispatch(effect[0])),
        script("supersede", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "dispatch acknowledge x giving up",
    ("applied", "stale", "a dispatched (dispatched); workflow_dispatch dispatched"),
    (
        "ended",
        "applied",
        "a queued (stale, dispatching); workflow_cancel due, workflow_dispatch due, workflow_dispatch silent",
    ),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    effect = await _started(arena)
    return script("acknowledge", calls.acknowledge_dispatch(effect[0])), script(
        "give up", calls.give_up(effect)
    )


@race(
    "dispatch giving up x a claim that follows",
    ("applied", "nothing", "a queued (stale, dispatching); workflow_dispatch due, workflow_dispatch silent"),
    (
        "applied",
        "1 claimed",
        "a queued (stale, dispatching); workflow_dispatch due, workflow_dispatch silent",
    ),
    ("stale", "1 claimed", "a queued (dispatching); workflow_dispatch started"),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    effect = await _started(arena)
    await arena.owner.execute("UPDATE outbox SET claimed_until = now()")
    return script("give up", calls.give_up(effect)), script("claim", calls.claim_effects())


@race(
    "dispatch acknowledge x result",
    ("applied", "accepted", "a completed/pass (completed)"),
    ("ended", "accepted", "a completed/pass (completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    effect = await _started(arena)
    run = await arena.one("SELECT * FROM release_runs")
    return (
        script("acknowledge", calls.acknowledge_dispatch(effect[0])),
        script("result", calls.report(run["id"], run["execution_attempt_id"], run["retry_id"])),
    )


@race(
    "reconcile of a silent end x result",
    ("applied", "accepted", "a completed/pass (completed)"),
    ("ended", "accepted", "a completed/pass (completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    asked = await _dispatched(arena)
    await _reconcile(arena, "in_progress")
    assert await _reconcile(arena, "completed") == "waiting"
    return script("reconcile", calls.reconcile("completed")), script("result", calls.report(*asked))


@race(
    "reconcile of a start x result",
    ("applied", "accepted", "a completed/pass (completed)"),
    ("ended", "accepted", "a completed/pass (completed)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    asked = await _dispatched(arena)
    return script("reconcile", calls.reconcile("in_progress")), script("result", calls.report(*asked))


@race(
    "re-run on GitHub x enqueue",
    (
        "ended",
        "created",
        "a completed/pass (completed); b queued (queued); workflow_cancel due, workflow_dispatch dispatched",
    ),
    (
        "retried",
        "created",
        "a superseded retry 1 (completed, superseded); b queued (queued); workflow_cancel due, workflow_dispatch dispatched",
    ),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    asked = await _dispatched(arena)
    await calls.report(*asked)(arena.app)
    return (
        script("re-run", calls.reconcile("in_progress", workflow_run_attempt=2)),
        script("enqueue", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "re-run on GitHub x retry",
    (
        "existing",
        "created",
        "a queued retry 1 (completed, queued); workflow_cancel due, workflow_dispatch dispatched",
    ),
    ("retried", "existing", "a running retry 1 (completed, in_progress); workflow_dispatch dispatched"),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    asked = await _dispatched(arena)
    await calls.report(*asked)(arena.app)
    return (
        script("re-run", calls.reconcile("in_progress", workflow_run_attempt=2)),
        script("retry", calls.retry(asked[0])),
    )


@race(
    "re-run on GitHub x resumption",
    (
        "ended",
        "written+1 due",
        "a cancelled (cancelled); confirm_pull_request due, workflow_cancel due, workflow_dispatch dispatched",
    ),
    (
        "retried",
        "written+1 due",
        "a running retry 1 (cancelled, in_progress); confirm_pull_request due, workflow_cancel retried,"
        " workflow_dispatch dispatched",
    ),
    tells=("effects",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await _dispatched(arena)
    for call in (calls.suspend(), calls.cancel_installation()):
        await call(arena.app)
    return (
        script("re-run", calls.reconcile("in_progress", workflow_run_attempt=2)),
        Script("resumption", ((calls.unsuspend(), calls.resume_installation()),)),
    )
