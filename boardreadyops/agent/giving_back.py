"""Give a lease back, within a bound: without an answer it runs out by itself."""

from __future__ import annotations

import asyncio
import errno
import logging
import re
from time import monotonic

from boardreadyops.agent.backoff import Backoff
from boardreadyops.agent.server import Denied, RunnerServer, Unavailable
from boardreadyops.kicad.probe import OLDEST_MAJOR
from boardreadyops.kicad.runner import MissingKicad
from boardreadyops.runner.protocol import (
    MAX_MESSAGE_CHARACTERS,
    LeaseAnswer,
    RelinquishAnswer,
    RelinquishRequest,
)

GIVE_BACK_SECONDS = 5.0  # for all tries; with the end of the work it stays under the 10 s of `docker stop`
GIVE_BACK_TRY_SECONDS = 3.0
MAX_ERROR_CLASS_CHARACTERS = 64
SHUTDOWN = RelinquishRequest(reason="shutdown", message="the runner was told to stop")

_log = logging.getLogger(__name__)


async def give_back(
    server: RunnerServer, lease: LeaseAnswer, request: RelinquishRequest
) -> RelinquishAnswer | Denied | Unavailable:
    """Ask until there is an answer or the bound is reached. The work must have ended."""
    give_up_at = monotonic() + GIVE_BACK_SECONDS
    backoff = Backoff()
    while True:
        timeout_seconds = min(GIVE_BACK_TRY_SECONDS, max(give_up_at - monotonic(), 0.0))
        answer = await server.relinquish(
            lease.lease_id, lease.lease_token, request, timeout_seconds=timeout_seconds
        )
        if not isinstance(answer, Unavailable):
            break
        pause_seconds = backoff.pause_seconds(answer.retry_after_seconds)
        if monotonic() + pause_seconds >= give_up_at:
            break
        await asyncio.sleep(pause_seconds)
    what = answer.outcome if isinstance(answer, RelinquishAnswer) else f"not given back, {answer.detail}"
    _log.info("lease %s (%s): %s", lease.lease_id, request.reason, what)
    return answer


def without_kicad(kicad: MissingKicad) -> RelinquishRequest:
    """No kicad-cli here: the run is for a runner that declares one."""
    message = kicad.answer.detail[:MAX_MESSAGE_CHARACTERS]
    return RelinquishRequest(reason="capability", message=message, needs=[f"kicad>={OLDEST_MAJOR}"])


def after_error(error: BaseException) -> RelinquishRequest:
    """The work broke, which says nothing of the board: the error's class for the server, its trace for our log."""
    _log.error("the work failed", exc_info=error)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return RelinquishRequest(reason="capacity", message="the runner's disk is full")
    kind = re.sub(r"[^A-Za-z0-9_]", "", type(error).__name__)[:MAX_ERROR_CLASS_CHARACTERS]
    words = f"the runner failed unexpectedly ({kind}); its own log tells more"
    return RelinquishRequest(reason="job_error", message=words)
