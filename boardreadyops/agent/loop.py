"""Ask for leases, one after the other, and do their work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import assert_never
from uuid import UUID, uuid4

from boardreadyops.agent.backoff import Backoff
from boardreadyops.agent.execution import Settled, execute
from boardreadyops.agent.server import (
    Denied,
    LeaseGranted,
    NothingToDo,
    RequestEnded,
    RunnerServer,
    Unavailable,
)
from boardreadyops.agent.work import Bench
from boardreadyops.config import Secret
from boardreadyops.runner.protocol import LeaseRequest

CLAIM_WAIT_SECONDS = 20
MIN_CLAIM_INTERVAL_SECONDS = 1.0  # between claims that found nothing, should the server not wait
ONCE_PATIENCE_SECONDS = 30.0  # how long `once` tries to reach the server

_log = logging.getLogger(__name__)


class Agent:
    """A registered runner at work; one lease at a time."""

    def __init__(
        self,
        server: RunnerServer,
        token: Secret,
        bench: Bench,
        *,
        capabilities: list[str],
        say: Callable[[str], None],
    ) -> None:
        self._server = server
        self._token = token
        self._bench = bench
        self._capabilities = capabilities
        self._say = say
        self._request_id: UUID = uuid4()

    async def once(self, *, wait_seconds: int = 0) -> Settled | NothingToDo | Denied | Unavailable:
        """Take at most one lease and do its work."""
        claimed = await self._claim(wait_seconds, patience_seconds=ONCE_PATIENCE_SECONDS)
        return await self._execute(claimed) if isinstance(claimed, LeaseGranted) else claimed

    async def run(self) -> Denied:
        """Take lease after lease until cancelled, or until the server refuses this runner."""
        while True:
            asked_at = monotonic()
            claimed = await self._claim(CLAIM_WAIT_SECONDS, patience_seconds=float("inf"))
            match claimed:
                case LeaseGranted():
                    await self._execute(claimed)
                case NothingToDo():
                    await asyncio.sleep(max(0.0, asked_at + MIN_CLAIM_INTERVAL_SECONDS - monotonic()))
                case Denied():
                    return claimed
                case Unavailable():
                    raise AssertionError("patience without end ended")
                case _:
                    assert_never(claimed)

    async def _claim(
        self, wait_seconds: int, *, patience_seconds: float
    ) -> LeaseGranted | NothingToDo | Denied | Unavailable:
        """Ask until there is an answer. The request id lives until then, so that a lost answer is given again."""
        give_up_at = monotonic() + patience_seconds
        backoff = Backoff()
        while True:
            request = LeaseRequest(
                request_id=self._request_id, capabilities=self._capabilities, wait_seconds=wait_seconds
            )
            answer = await self._server.claim(self._token, request)
            match answer:
                case LeaseGranted() | NothingToDo() | Denied():
                    self._request_id = uuid4()
                    return answer
                case RequestEnded():
                    self._request_id = uuid4()
                case Unavailable():
                    pause_seconds = backoff.pause_seconds(answer.retry_after_seconds)
                    _log.warning("no lease: %s; next try in %.1f s", answer.detail, pause_seconds)
                    if monotonic() + pause_seconds > give_up_at:
                        return answer
                    await asyncio.sleep(pause_seconds)
                case _:
                    assert_never(answer)

    async def _execute(self, granted: LeaseGranted) -> Settled:
        lease = granted.lease
        where = f"{lease.repository.owner}/{lease.repository.name}"
        self._say(f"lease {lease.lease_id}: {where} {lease.commit_sha[:12]}")
        settled = await execute(self._server, granted, self._bench)
        self._say(f"lease {lease.lease_id}: {settled.line}")
        return settled
