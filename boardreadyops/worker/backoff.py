"""How long a failed send waits: longer each time, capped, never quite as long as another's."""

from __future__ import annotations

import math
import random
from typing import assert_never

from boardreadyops.github.requests import Failure

TRANSIENT_FIRST_SECONDS = 2.0
MAX_TRANSIENT_SECONDS = 300.0
# A refusal ends only when somebody changes something: permissions, a suspension, our program.
DENIED_FIRST_SECONDS = 30.0
MAX_DENIED_SECONDS = 3_600.0
RATE_LIMIT_SPREAD_SECONDS = 5.0


def delay_seconds(failure: Failure, *, send_count: int, doubt_seconds: float, rng: random.Random) -> int:
    """Whole seconds until the next try; `send_count` is the number of tries so far, this one included."""
    growth = 2.0 ** min(30, max(0, send_count - 1))
    match failure.error_class:
        case "rate_limited":
            asked = failure.retry_after_seconds or 0.0
            return math.ceil(asked + rng.uniform(0.0, RATE_LIMIT_SPREAD_SECONDS))
        case "uncertain":
            return math.ceil(doubt_seconds)
        case "denied":
            return math.ceil(min(MAX_DENIED_SECONDS, DENIED_FIRST_SECONDS * growth) * rng.uniform(0.5, 1.0))
        case "transient" | "gone":
            waited = min(MAX_TRANSIENT_SECONDS, TRANSIENT_FIRST_SECONDS * growth) * rng.uniform(0.5, 1.0)
            return math.ceil(max(waited, failure.retry_after_seconds or 0.0))
        case _ as never:
            assert_never(never)
