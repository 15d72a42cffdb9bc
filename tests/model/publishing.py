"""The publication protocol (§8): desired and acknowledged sequence, generations, doubt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from tests.model.moving import check_is_shown, newest_publication
from tests.model.rows import Publication, PublicationKey, Run, RunKey, State


class Sent(NamedTuple):
    """A claimed publication: what the relay must tell and the fence it holds."""

    key: PublicationKey
    generation: int
    seq: int
    doubtful: bool
    payload_status: str


def due(state: State, publication: Publication, now: int) -> bool:
    """Something is desired, nobody holds the row, its back-off is over, and doubt has had its silence."""
    if (
        publication.closed
        or publication.desired_seq <= publication.acked_seq
        or publication.available_at > now
    ):
        return False
    if publication.leased:
        assert publication.claimed_until is not None
        return publication.claimed_until + state.settings.doubt_seconds <= now
    return True


def _commit(publication: Publication) -> tuple[int, str]:
    return publication.key.run.repository_id, publication.key.run.commit_sha


def claim(
    state: State, lease_seconds: int, now: int, *, picked: Collection[PublicationKey] = ()
) -> list[Sent]:
    """Lease due rows: one per (repository, SHA), the lower retry first. `picked` decides between runs."""
    sent: list[Sent] = []
    held = {_commit(row) for row in state.publications.values() if row.leased and not due(state, row, now)}
    rows = sorted(
        state.publications.values(),
        key=lambda row: (row.key not in picked, row.key.retry_number, row.key.ordinal),
    )
    for row in rows:
        if not due(state, row, now) or _commit(row) in held or _waits_for_its_elder(state, row):
            continue
        held.add(_commit(row))
        claimed = replace(
            row,
            generation=row.generation + 1,
            doubtful=row.doubtful or row.leased,
            leased=True,
            claimed_until=now + lease_seconds,
        )
        state.publications[row.key] = claimed
        sent.append(Sent(row.key, claimed.generation, row.desired_seq, claimed.doubtful, row.payload_status))
    return sent


def _waits_for_its_elder(state: State, row: Publication) -> bool:
    """The newest check lands last: an earlier asking of the run that has something left to tell goes first."""
    return any(
        elder.key.run == row.key.run
        and elder.key.retry_number < row.key.retry_number
        and elder.desired_seq > elder.acked_seq
        and not elder.closed
        for elder in state.publications.values()
    )


def _fenced(state: State, key: PublicationKey, generation: int) -> str | None:
    row = state.publications.get(key)
    if row is None:
        return "not_found"
    return None if row.leased and row.generation == generation else "stale"


def record_check_run(state: State, key: PublicationKey, generation: int, check_run_id: int, now: int) -> str:
    """Store GitHub's id; a planned dispatch attempt moves on, a runner's is not touched."""
    refused = _fenced(state, key, generation)
    if refused is not None:
        return refused
    row = state.publications[key]
    if row.check_run_id not in {None, check_run_id}:
        return "stale"
    state.publications[key] = replace(row, check_run_id=check_run_id)
    run = state.runs[key.run]
    if run.retry_number == key.retry_number:
        check_is_shown(state, run, now)
    return "applied"


def acknowledge(
    state: State,
    key: PublicationKey,
    generation: int,
    seq: int,
    now: int,
    *,
    opened: Collection[PublicationKey] = (),
) -> str:
    """GitHub holds `seq`; the row is available again if more is desired by now. `opened` decides among equals."""
    refused = _fenced(state, key, generation)
    if refused is not None:
        return refused
    row = state.publications[key]
    acked_seq = max(row.acked_seq, min(seq, row.desired_seq))
    state.publications[key] = replace(
        row, acked_seq=acked_seq, leased=False, doubtful=False, claimed_until=None
    )
    if row.payload_status in NEUTRAL and acked_seq == row.desired_seq and row.check_run_id is not None:
        publish_worst(state, row, now, opened)
    return "applied"


def defer(
    state: State, key: PublicationKey, generation: int, error_class: str, delay_seconds: int, now: int
) -> str:
    """Give a row back: `gone` closes it, `uncertain` makes it doubtful and quiet first."""
    refused = _fenced(state, key, generation)
    if refused is not None:
        return refused
    row = state.publications[key]
    if (
        error_class == "uncertain"
    ):  # the request is over; the commit stays taken until doubt has had its silence
        state.publications[key] = replace(
            row, doubtful=True, claimed_until=now, available_at=now + delay_seconds
        )
        return "applied"
    state.publications[key] = replace(
        row,
        leased=False,
        claimed_until=None,
        closed=row.closed or error_class == "gone",
        available_at=now + delay_seconds,
    )
    return "applied"


def resume(state: State, installation_id: int, now: int) -> None:
    """A tenant can be served again: what it is owed is due at once."""
    for key, row in list(state.publications.items()):
        if state.runs[key.run].installation_id == installation_id and row.available_at > now:
            state.publications[key] = replace(row, available_at=now)


def verify(state: State, key: PublicationKey, seq: int, finding: str, now: int) -> str:
    """A check was read back: a difference raises `desired_seq`; frozen or gone, the asking gets one more check."""
    row = state.publications.get(key)
    if row is None:
        return "not_found"
    if row.closed or seq != row.desired_seq:
        return "stale"
    if finding == "different":
        state.publications[key] = replace(row, desired_seq=row.desired_seq + 1, available_at=now)
    if finding in {"frozen", "gone"}:  # nothing more can be told there
        state.publications[key] = replace(row, closed=True)
        open_next_ordinal(state, key, now)
    return "applied"


def open_next_ordinal(state: State, key: PublicationKey, now: int) -> PublicationKey:
    """GitHub would not let the check change: the same asking gets one more check, the earlier keep their place."""
    row = state.publications[key]
    if state.runs[key.run].retry_number != key.retry_number:
        return key  # a newer asking has its own check, which an older one's must not outdo
    following = key._replace(ordinal=key.ordinal + 1)
    state.publications.setdefault(
        following,
        Publication(
            following,
            row.told,
            1,
            0,
            0,
            doubtful=False,
            leased=False,
            check_run_id=None,
            closed=False,
            available_at=now,
        ),
    )
    return following


NEUTRAL = frozenset({"cancelled", "superseded"})
_WORST_FIRST = ("fail", "failed", "timed_out", "open", "pass", "neutral")


def _severity(run: Run) -> int:
    """Where the verdict of a run stands; one that could not be checked blocks like one that failed."""
    if run.status in NEUTRAL:
        return _WORST_FIRST.index("neutral")
    if run.status == "completed":
        return _WORST_FIRST.index(run.decision or "")
    return _WORST_FIRST.index(run.status if run.terminal else "open")


def check_name(run: RunKey) -> str:
    """Pull requests and merge groups share one name; a branch or tag has its own."""
    kind, _, name = run.ref.removeprefix("refs/").partition("/")
    if kind == "pull" or name.startswith("gh-readonly-queue/"):
        return "BoardReadyOps"
    return f"BoardReadyOps ({name})"


def publish_worst(state: State, landed: Publication, now: int, opened: Collection[PublicationKey]) -> None:
    """A neutral has landed on a commit that heads another open ref: the worst verdict there is told anew, last."""
    heads = [
        state.runs[ref.authoritative]
        for ref in state.refs.values()
        if ref.open
        and ref.authoritative is not None
        and ref.key.repository_id == landed.key.run.repository_id
        and ref.head_sha == landed.key.run.commit_sha
        and check_name(ref.authoritative) == check_name(landed.key.run)
    ]
    if all(run.key == landed.key.run for run in heads):
        return
    worst = min(map(_severity, heads))
    choices = {newest_publication(state, run).key for run in heads if _severity(run) == worst}
    checks = {key: state.publications[key].check_run_id for key in choices}
    told_later = any(check is None or check > (landed.check_run_id or 0) for check in checks.values())
    picked = {key._replace(ordinal=key.ordinal - 1) for key in opened}
    if not picked:
        assert told_later or _WORST_FIRST[worst] == "neutral", f"none of {checks} is told anew after {landed}"
        return
    [told] = picked
    assert told in choices, f"{told} is told anew instead of one of {choices}"
    open_next_ordinal(state, told, now)
