"""Retries, and the level rule."""

from __future__ import annotations

from collections.abc import Sequence

from boardreadyops.db.runs import cancel_release_run
from boardreadyops.db.sweeps import resume_installation
from tests.races import calls
from tests.races.arena import SHA_B, Arena
from tests.races.pairs import race, timed_out
from tests.races.scheduler import Script, script


@race(
    "retry x late result",
    ("created", "accepted", "a queued retry 1 (completed under timed_out)"),
    ("created", "late", "a queued retry 1 (timed_out under timed_out)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await timed_out(arena)
    return script("retry", calls.retry(grant.release_run_id)), script("result", calls.result(grant))


@race(
    "retry x enqueue",
    ("created", "created", "a superseded retry 1 (timed_out under timed_out); b queued"),
    ("superseded", "created", "a timed_out (timed_out under timed_out); b queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await timed_out(arena)
    return (
        script("retry", calls.retry(grant.release_run_id)),
        script("enqueue", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "two retries",
    ("created", "existing", "a queued retry 1 (timed_out under timed_out)"),
    ("existing", "created", "a queued retry 1 (timed_out under timed_out)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await timed_out(arena)
    return tuple(script(name, calls.retry(grant.release_run_id)) for name in ("one", "other"))


@race(
    "retry x close",
    ("created", "closed", "a cancelled retry 1 (timed_out under timed_out); a1 closed"),
    ("superseded", "closed", "a timed_out (timed_out under timed_out); a1 closed"),
    tells=("ref",),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await timed_out(arena)
    return (
        script("retry", calls.retry(grant.release_run_id)),
        script("close", calls.close(arena.seen(minute=1))),
    )


@race(
    "retry x claim",
    ("created", "created", "a running retry 1 (timed_out under timed_out, in_progress under active)"),
    ("created", "none", "a queued retry 1 (timed_out under timed_out)"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await timed_out(arena)
    return (
        script("retry", calls.retry(grant.release_run_id)),
        script("claim", calls.claim(await arena.runner())),
    )


@race(
    "level rule x enqueue",
    ("existing", "created", "a superseded retry 1; b queued; b1"),
    ("nothing", "created", "a cancelled; b queued; b1"),
    tells=("ref",),
)
async def _(arena: Arena) -> Sequence[Script]:
    run_id = await arena.opened()
    await cancel_release_run(
        arena.app,
        installation_id=1,
        release_run_id=run_id,
        reason_code="installation_suspended",
        cancelled_by=None,
    )
    await resume_installation(arena.app, installation_id=1, limit=10)
    return script("level", calls.level()), script("enqueue", calls.enqueue(arena.seen(SHA_B, minute=1)))


@race(
    "suspension x enqueue",
    (
        "written+1 cancelled",
        "created",
        "a superseded because newer_commit; b cancelled because installation_suspended",
    ),
    ("written+1 cancelled", "disabled", "a cancelled because installation_suspended"),
    tells=("why",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    return (
        Script("suspension", ((calls.suspend(), calls.cancel_installation()),)),
        script("enqueue", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )
