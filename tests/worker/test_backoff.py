from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardreadyops.domain.effects import ErrorClass
from boardreadyops.github.requests import Failure
from boardreadyops.worker.backoff import delay_seconds


def delays(error_class: ErrorClass, tries: int, retry_after: float | None = None) -> list[int]:
    failure = Failure(error_class, "code", "detail", retry_after)
    rng = Random(3)
    return [
        delay_seconds(failure, send_count=count, doubt_seconds=60, rng=rng) for count in range(1, tries + 1)
    ]


def test_a_transient_failure_waits_longer_each_time_up_to_five_minutes() -> None:
    waited = delays("transient", 500)
    assert waited[0] <= 2
    assert 150 <= min(waited[10:]) <= max(waited) <= 300
    assert sum(waited) > 24 * 3_600, "and is tried for a day and more"


def test_a_denied_send_is_tried_at_least_hourly() -> None:
    assert 1_800 <= delays("denied", 20)[-1] <= 3_600


def test_githubs_own_word_is_honoured() -> None:
    assert 120 <= delays("rate_limited", 1, 120.0)[0] <= 125
    assert delays("transient", 1, 30.0)[0] >= 30


def test_doubt_is_waited_out() -> None:
    assert delays("uncertain", 3) == [60, 60, 60]


@given(st.integers(1, 10**6), st.sampled_from(["gone", "denied", "rate_limited", "transient", "uncertain"]))
def test_every_delay_is_bounded(count: int, error_class: ErrorClass) -> None:
    delay = delay_seconds(
        Failure(error_class, "c", "d"), send_count=count, doubt_seconds=60, rng=Random(count)
    )
    assert 0 <= delay <= 3_600


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_waits_the_same(seed: int) -> None:
    failure = Failure("transient", "c", "d")
    one, two = (delay_seconds(failure, send_count=9, doubt_seconds=60, rng=Random(seed)) for _ in range(2))
    assert one == two
