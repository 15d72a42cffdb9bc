"""What is known of a ref: enqueue, confirm, close, supersession."""

from __future__ import annotations

from collections.abc import Sequence

from tests.races import calls
from tests.races.arena import SHA_A, SHA_B, SHA_C, Arena
from tests.races.pairs import race
from tests.races.scheduler import Script, script


@race(
    "result x supersede",
    ("accepted", "created", "a completed/pass (completed under completed); b queued"),
    ("late", "created", "a superseded (superseded under superseded); b queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    grant = await arena.leased()
    return (
        script("result", calls.result(grant)),
        script("supersede", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


def _enqueues(
    name: str, one: tuple[str, int], other: tuple[str, int], stored: str, *legal: tuple[str, ...]
) -> None:
    @race(name, *legal, tells=("ref", "effects"))
    async def _(arena: Arena) -> Sequence[Script]:
        if stored:
            await arena.opened(stored)
        return (
            script("one", calls.enqueue(arena.seen(one[0], minute=one[1]))),
            script("other", calls.enqueue(arena.seen(other[0], minute=other[1]))),
        )


_enqueues(
    "enqueue x enqueue, new ref, same commit, same time",
    (SHA_A, 1),
    (SHA_A, 1),
    "",
    ("created", "existing", "a queued; ; a0"),
    ("existing", "created", "a queued; ; a0"),
)
_enqueues(
    "enqueue x enqueue, new ref, same commit, other times",
    (SHA_A, 1),
    (SHA_A, 2),
    "",
    ("created", "existing", "a queued; ; a1"),
    ("existing asks", "created", "a queued; confirm_pull_request due; a0"),
)
_enqueues(
    "enqueue x enqueue, new ref, other commits, same time",
    (SHA_A, 1),
    (SHA_B, 1),
    "",
    ("created", "ignored asks", "a queued; confirm_pull_request due; a1"),
    ("ignored asks", "created", "b queued; confirm_pull_request due; b1"),
)
_enqueues(
    "enqueue x enqueue, new ref, other commits, other times",
    (SHA_A, 1),
    (SHA_B, 2),
    "",
    ("created", "created", "a superseded; b queued; ; b1"),
    ("superseded asks", "created", "a superseded; b queued; confirm_pull_request due; b0"),
)
_enqueues(
    "enqueue x enqueue, same commit, same time",
    (SHA_B, 1),
    (SHA_B, 1),
    SHA_A,
    ("created", "existing", "a superseded; b queued; ; b1"),
    ("existing", "created", "a superseded; b queued; ; b1"),
)
_enqueues(
    "enqueue x enqueue, same commit, other times",
    (SHA_B, 1),
    (SHA_B, 2),
    SHA_A,
    ("created", "existing", "a superseded; b queued; ; b2"),
    ("existing asks", "created", "a superseded; b queued; confirm_pull_request due; b1"),
)
_enqueues(
    "enqueue x enqueue, other commits, same time",
    (SHA_B, 1),
    (SHA_C, 1),
    SHA_A,
    ("created", "ignored asks", "a superseded; b queued; confirm_pull_request due; b2"),
    ("ignored asks", "created", "a superseded; c queued; confirm_pull_request due; c2"),
)
_enqueues(
    "enqueue x enqueue, other commits, other times",
    (SHA_B, 1),
    (SHA_C, 2),
    SHA_A,
    ("created", "created", "a superseded; b superseded; c queued; ; c2"),
    ("superseded asks", "created", "a superseded; b superseded; c queued; confirm_pull_request due; c1"),
)


@race(
    "confirm x enqueue",
    ("created", "created", "a superseded; b superseded; c queued; c2"),
    ("moved_on", "created", "a superseded; c queued; c1"),
    tells=("ref",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    return (
        script("confirm", calls.enqueue(arena.seen(SHA_B, minute=1), confirmed=0)),
        script("enqueue", calls.enqueue(arena.seen(SHA_C, minute=2))),
    )


@race(
    "close x enqueue",
    ("closed", "created", "a cancelled; b queued; b2"),
    ("older", "created", "a superseded; b queued; b1"),
    tells=("ref",),
)
async def _(arena: Arena) -> Sequence[Script]:
    await arena.opened()
    return (
        script("close", calls.close(arena.seen(SHA_A, minute=1))),
        script("enqueue", calls.enqueue(arena.seen(SHA_B, minute=2))),
    )


@race(
    "cancel x supersede",
    ("applied", "created", "a cancelled; b queued"),
    ("terminal", "created", "a superseded; b queued"),
)
async def _(arena: Arena) -> Sequence[Script]:
    run_id = await arena.opened()
    return (
        script("cancel", calls.cancel(run_id)),
        script("supersede", calls.enqueue(arena.seen(SHA_B, minute=1))),
    )


@race(
    "approve x cancel",
    ("applied", "applied", "a cancelled"),
    ("terminal", "applied", "a cancelled"),
)
async def _(arena: Arena) -> Sequence[Script]:
    run_id = await arena.opened(trust="fork")
    return script("approve", calls.approve(run_id)), script("cancel", calls.cancel(run_id))


@race(
    "push x push, both from one head",
    ("created", "ask", "a superseded; b queued; confirm_ref due; b3"),
    ("ask", "created", "a superseded; c queued; confirm_ref due; c3"),
    tells=("ref", "effects"),
)
async def _(arena: Arena) -> Sequence[Script]:
    await calls.push("0" * 40, SHA_A)(arena.app)
    return script("one", calls.push(SHA_A, SHA_B)), script("other", calls.push(SHA_A, SHA_C))
