"""The publication protocol (§8): desired and acknowledged sequence, generations, doubt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from tests.model.moving import move_attempt
from tests.model.rows import Publication, PublicationKey, State


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
    attempt = state.attempt_of(run)
    if attempt is not None and attempt.status == "queued" and run.retry_number == key.retry_number:
        move_attempt(state, attempt, "dispatching", "check_run_created", now)
    return "applied"


def acknowledge(state: State, key: PublicationKey, generation: int, seq: int) -> str:
    """GitHub holds `seq`; the row is available again if more is desired by now."""
    refused = _fenced(state, key, generation)
    if refused is not None:
        return refused
    row = state.publications[key]
    acked_seq = max(row.acked_seq, min(seq, row.desired_seq))
    state.publications[key] = replace(
        row, acked_seq=acked_seq, leased=False, doubtful=False, claimed_until=None
    )
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


def verify(state: State, key: PublicationKey, *, as_desired: bool) -> str:
    """The check was read back; a difference raises `desired_seq`."""
    row = state.publications.get(key)
    if row is None:
        return "not_found"
    if as_desired:
        return "agreed"
    state.publications[key] = replace(row, desired_seq=row.desired_seq + 1)
    return "raised"


def open_next_ordinal(state: State, key: PublicationKey, now: int) -> PublicationKey:
    """GitHub would not let the check change: the same asking gets one more check, the earlier keep their place."""
    row = state.publications[key]
    following = key._replace(ordinal=key.ordinal + 1)
    state.publications.setdefault(
        following,
        Publication(
            following,
            row.payload_status,
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
