"""Signs of life, apart from the work: they extend the lease and bring the order to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from time import monotonic
from typing import assert_never

from boardreadyops.agent.backoff import Backoff
from boardreadyops.agent.server import Denied, LeaseGranted, RunnerServer, Unavailable
from boardreadyops.runner.protocol import STAGES, HeartbeatAnswer, HeartbeatRequest, Stage

MIN_BEAT_TIMEOUT_SECONDS = 1.0
MAX_BEAT_TIMEOUT_SECONDS = 10.0
ANNOUNCE_SECONDS = 2.0  # how long work waits until the server knows of a new stage
PROGRESS_PERCENT: dict[Stage, int] = {
    "claimed": 0,
    "preparing_source": 10,
    "running": 30,
    "uploading_artifacts": 80,
    "reporting": 90,
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseOver:
    """Work on the lease must stop, and why, in one line."""

    state: str
    detail: str


class Heartbeat:
    """The life of one lease as this machine knows it.

    The deadline counts from the sending of the request that was last answered, at the local monotonic clock: the
    server cannot believe the lease dead before we do.
    """

    def __init__(self, server: RunnerServer, granted: LeaseGranted) -> None:
        self._server = server
        self._lease = granted.lease
        self._stage: Stage = "claimed"
        self._wake = asyncio.Event()
        self._told = asyncio.Event()
        self.deadline = granted.sent_at + granted.lease.expires_in_seconds
        self.maximum_deadline = granted.sent_at + granted.lease.maximum_expires_in_seconds

    async def announce(self, stage: Stage) -> None:
        """Reach a stage and wait a moment until the server knows; an earlier stage is ignored."""
        if STAGES.index(stage) <= STAGES.index(self._stage):
            return
        self._stage = stage
        self._told.clear()
        self._wake.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._told.wait(), ANNOUNCE_SECONDS)

    async def run(self) -> LeaseOver:
        """Beat until the server says stop, or until the lease is over by our own clock."""
        backoff = Backoff()
        # The first beat is sent in any case: waiting for the lease may have eaten its seconds.
        self.deadline = max(self.deadline, monotonic() + MIN_BEAT_TIMEOUT_SECONDS)
        while monotonic() < self.deadline:
            self._wake.clear()
            stage = self._stage
            answer = await self._beat(stage)
            pause_seconds = self._lease.heartbeat_seconds
            match answer:
                case HeartbeatAnswer(directive="stop"):
                    return LeaseOver(
                        answer.state, f"the lease is {answer.state} ({answer.reason or 'no reason'})"
                    )
                case HeartbeatAnswer():
                    backoff.reset()
                    if stage == self._stage:
                        self._told.set()
                case Denied():
                    return LeaseOver("unknown", f"the server does not know the lease: {answer.detail}")
                case Unavailable():
                    _log.warning("heartbeat not answered: %s", answer.detail)
                    pause_seconds = min(pause_seconds, backoff.pause_seconds(answer.retry_after_seconds))
                case _:
                    assert_never(answer)
            await self._pause(pause_seconds)
        return LeaseOver("expired", "the lease ran out by this machine's clock, the server was not reached")

    async def _beat(self, stage: Stage) -> HeartbeatAnswer | Denied | Unavailable:
        sent_at = monotonic()
        timeout_seconds = min(
            max(2 * self._lease.heartbeat_seconds, MIN_BEAT_TIMEOUT_SECONDS),
            MAX_BEAT_TIMEOUT_SECONDS,
            max(self.deadline - sent_at, 0.0),
        )
        request = HeartbeatRequest(stage=stage, progress=PROGRESS_PERCENT[stage])
        answer = await self._server.heartbeat(
            self._lease.lease_id, self._lease.lease_token, request, timeout_seconds=timeout_seconds
        )
        if isinstance(answer, HeartbeatAnswer):
            self.deadline = sent_at + answer.expires_in_seconds
            self.maximum_deadline = sent_at + answer.maximum_expires_in_seconds
        return answer

    async def _pause(self, pause_seconds: float) -> None:
        remaining_seconds = max(self.deadline - monotonic(), 0.0)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), min(pause_seconds, remaining_seconds))
