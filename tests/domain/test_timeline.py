"""What a run spent its time on, from its events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from boardreadyops.domain.timeline import (
    STALE_SECONDS,
    EntityType,
    Segment,
    Transition,
    freshness,
    segments,
)

START = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
ONE, TWO = UUID(int=1), UUID(int=2)
NUMBERS = {ONE: 1, TWO: 2}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def moved(
    seconds: float,
    from_status: str,
    to_status: str,
    *,
    version: int = 0,
    attempt: UUID | None = None,
    entity: EntityType = "release_run",
    reason: str = "runner_lease_claimed",
) -> Transition:
    return Transition(entity, attempt, from_status, to_status, version, version + 1, reason, at(seconds))


def shape(found: tuple[Segment, ...], now: float) -> list[tuple[str, float, int | None]]:
    return [(one.kind, one.seconds(at(now)), one.attempt_number) for one in found]


def test_a_run_that_nobody_took_waits() -> None:
    assert shape(segments(START, (), {}), 30) == [("waiting", 30.0, None)]


def test_a_whole_run_waits_works_and_reports() -> None:
    told = (
        moved(6, "queued", "running", attempt=ONE),
        moved(40, "in_progress", "reporting", attempt=ONE, entity="execution_attempt"),
        moved(43, "reporting", "completed", attempt=ONE, entity="execution_attempt"),
        moved(43, "running", "completed", version=1, attempt=ONE),
    )
    assert shape(segments(START, told[::-1], NUMBERS), 999) == [
        ("waiting", 6.0, None),
        ("working", 34.0, 1),
        ("reporting", 3.0, 1),
    ]


def test_an_attempt_that_was_taken_back_is_lost_its_reporting_as_well() -> None:
    told = (
        moved(5, "queued", "running", attempt=ONE),
        moved(15, "in_progress", "uploading_artifacts", attempt=ONE, entity="execution_attempt"),
        moved(20, "running", "queued", version=1, attempt=ONE, reason="runner_lease_expired"),
        moved(22, "queued", "running", version=2, attempt=TWO),
    )
    assert shape(segments(START, told[::-1], NUMBERS), 32) == [
        ("waiting", 5.0, None),
        ("lost", 10.0, 1),
        ("lost", 5.0, 1),
        ("waiting", 2.0, None),
        ("working", 10.0, 2),
    ]


def test_an_earlier_asking_and_the_rest_after_it_are_left_out() -> None:
    told = (
        moved(5, "queued", "superseded"),
        moved(100, "superseded", "queued", version=1, reason="head_returned"),
        moved(103, "queued", "running", version=2, attempt=TWO),
    )
    assert shape(segments(START, told[::-1], NUMBERS), 110) == [("waiting", 3.0, None), ("working", 7.0, 2)]


def test_without_the_oldest_events_the_bar_begins_with_the_oldest_known() -> None:
    told = (
        moved(50, "running", "queued", version=7, attempt=ONE),
        moved(60, "queued", "cancelled", version=8),
    )
    found = segments(START, told[::-1], NUMBERS)
    assert sum(one.seconds(at(999)) for one in found) == 10.0


def test_a_clock_that_is_behind_makes_no_negative_time() -> None:
    assert Segment("waiting", at(10), None).seconds(START) == 0.0


@pytest.mark.parametrize(
    ("code", "sentence"),
    [("newer_commit", "A newer commit replaced this one."), ("not.yet-known_code", "Not yet known code.")],
)
def test_a_reason_has_a_plain_sentence_also_when_this_version_does_not_know_it(
    code: str, sentence: str
) -> None:
    assert moved(0, "queued", "running", reason=code).sentence == sentence


@pytest.mark.parametrize(
    ("status", "silent_seconds", "wanted"),
    [
        ("running", STALE_SECONDS, "current"),
        ("running", STALE_SECONDS + 1, "stale"),
        ("dispatched", STALE_SECONDS + 1, "stale"),
        ("queued", STALE_SECONDS + 1, "current"),
        ("completed", STALE_SECONDS + 1, "terminal"),
        ("superseded", 0, "terminal"),
    ],
)
def test_silence_makes_work_stale_but_not_waiting(status: str, silent_seconds: float, wanted: str) -> None:
    assert freshness(status, START, at(silent_seconds)) == wanted
