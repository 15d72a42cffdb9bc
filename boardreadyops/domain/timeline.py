"""A run's history as people read it: what was waited for and what was done, to time scale. Pure; times are passed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from boardreadyops.domain.lifecycle import REASONS, TERMINAL_RUN_STATUSES, RunStatus

EntityType = Literal["release_run", "execution_attempt"]
SegmentKind = Literal["waiting", "working", "reporting", "lost"]

_REPORTING = frozenset({"uploading_artifacts", "reporting"})


@dataclass(frozen=True, slots=True)
class Transition:
    """One lifecycle event, and nothing of it beyond what the timeline shows. `occurred_at` is UTC."""

    entity_type: EntityType
    execution_attempt_id: UUID | None
    from_status: str
    to_status: str
    from_version: int
    to_version: int
    reason_code: str
    occurred_at: datetime

    @property
    def sentence(self) -> str:
        """The plain sentence of the reason; of a code that this version does not know, its words."""
        words = self.reason_code.replace("_", " ").replace(".", " ").replace("-", " ")
        return REASONS.get(self.reason_code, f"{words.capitalize()}.")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a run's time; `end` is None while it lasts."""

    kind: SegmentKind
    start: datetime
    end: datetime | None
    attempt_number: int | None = None

    def seconds(self, now: datetime) -> float:
        """How long it took, or has taken until now; never negative."""
        return max(0.0, ((self.end or now) - self.start).total_seconds())


def segments(
    started_at: datetime,
    newest_first: Sequence[Transition],
    attempt_numbers: Mapping[UUID, int],
) -> tuple[Segment, ...]:
    """What the newest asking of a run spent its time on, oldest first.

    `started_at` is when the run was made. Earlier askings, and the rest between them, are left out. When the oldest
    events are not given, the bar begins with the oldest one that is.
    """
    told = newest_first[::-1]
    versions = [event.from_version for event in told if event.entity_type == "release_run"]
    truncated = bool(versions) and versions[0] > 0
    done: list[Segment] = []
    current: Segment | None = Segment("waiting", told[0].occurred_at if truncated else started_at, None)
    for event in told:
        if event.entity_type == "execution_attempt":
            if current is not None and current.kind == "working" and event.to_status in _REPORTING:
                done, current = _next(done, current, event, "reporting", current.attempt_number)
            continue
        if event.from_status in TERMINAL_RUN_STATUSES:
            done, current = [], Segment("waiting", event.occurred_at, None)
        elif event.to_status in TERMINAL_RUN_STATUSES:
            if current is not None:
                done.append(replace(current, end=event.occurred_at))
            current = None
        elif event.to_status == RunStatus.RUNNING and current is not None:
            number = attempt_numbers.get(event.execution_attempt_id) if event.execution_attempt_id else None
            done, current = _next(done, current, event, "working", number)
        elif event.from_status == RunStatus.RUNNING and current is not None:
            done, current = _next(_lost(done, current), replace(current, kind="lost"), event, "waiting", None)
    return tuple(done if current is None else [*done, current])


def _next(
    done: list[Segment], current: Segment, event: Transition, kind: SegmentKind, attempt_number: int | None
) -> tuple[list[Segment], Segment]:
    ended = replace(current, end=event.occurred_at)
    return [*done, ended], Segment(kind, event.occurred_at, None, attempt_number)


def _lost(done: list[Segment], current: Segment) -> list[Segment]:
    """The work of an attempt that the run was taken back from was for nothing, its reporting as well."""
    return [
        replace(part, kind="lost")
        if part.attempt_number is not None and part.attempt_number == current.attempt_number
        else part
        for part in done
    ]


Freshness = Literal["current", "stale", "terminal"]
STALE_SECONDS = 15 * 60  # without a sign of life from whoever works on it


def freshness(status: str, sign_of_life_at: datetime, now: datetime) -> Freshness:
    """Whether more is to come, and whether somebody is known to work on it. Waiting is not staleness: it has its clock."""
    if status in TERMINAL_RUN_STATUSES:
        return "terminal"
    at_work = status != RunStatus.QUEUED
    return "stale" if at_work and (now - sign_of_life_at).total_seconds() > STALE_SECONDS else "current"
