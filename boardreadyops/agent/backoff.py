"""Pauses between tries: each longer than the last up to a bound, with jitter, so that runners do not march in step."""

from __future__ import annotations

import random

FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0


class Backoff:
    """The pauses of one series of tries."""

    def __init__(self, *, max_pause_seconds: float = MAX_PAUSE_SECONDS) -> None:
        self._next_seconds = FIRST_PAUSE_SECONDS
        self._max_seconds = max_pause_seconds

    def pause_seconds(self, at_least_seconds: float | None = None) -> float:
        """The next pause, never shorter than the server asked for (within the bound)."""
        pause = random.uniform(0.5, 1.0) * min(self._next_seconds, self._max_seconds)
        self._next_seconds = min(2 * self._next_seconds, self._max_seconds)
        return min(max(pause, at_least_seconds or 0.0), self._max_seconds)

    def reset(self) -> None:
        """Begin anew: the last try was answered."""
        self._next_seconds = FIRST_PAUSE_SECONDS
