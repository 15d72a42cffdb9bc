"""One lease from claim to report: work and heartbeat side by side; whichever ends first decides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Literal, assert_never

from boardreadyops.agent.apart import run_apart
from boardreadyops.agent.backoff import Backoff
from boardreadyops.agent.checkout import Source, SourceProblem
from boardreadyops.agent.heartbeat import Heartbeat
from boardreadyops.agent.server import Denied, LeaseGranted, RunnerServer, Unavailable
from boardreadyops.agent.work import Bench, check_commit, source_result, unexpected_result
from boardreadyops.config import Secret
from boardreadyops.runner.protocol import LeaseAnswer, ResultAnswer, ResultOutcome, SourceTokenAnswer, Stage
from boardreadyops.runner.result import ResultV1

SOURCE_TOKEN_PATIENCE_SECONDS = 120.0
LATE_RESULT_PATIENCE_SECONDS = (
    300.0  # a result is offered this long after its lease is over: late ones are recorded
)
# Answers that look passing (502, 503) but stay as they are.
FINAL_SOURCE_CODES = frozenset({"github_refused", "github_not_configured"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """How a lease ended: the server's word on the result, or why there was none."""

    outcome: ResultOutcome | Literal["lease_over", "refused", "undelivered"]
    line: str


async def execute(server: RunnerServer, granted: LeaseGranted, bench: Bench) -> Settled:
    """Do the work of a lease and report. Cancelling stops the work, leaves the lease to its end, reports nothing."""
    lease = granted.lease
    heartbeat = Heartbeat(server, granted)
    beating = asyncio.create_task(heartbeat.run())
    work = asyncio.create_task(_work(server, lease, bench, heartbeat))
    try:
        await asyncio.wait({beating, work}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Settled("lease_over", f"stopped: {beating.result().detail}")
        error = work.exception()
        result = work.result() if error is None else unexpected_result(lease, error)
        await heartbeat.announce("reporting")
        return await _report(server, lease, result, heartbeat)
    finally:
        for task in (work, beating):
            task.cancel()
        await asyncio.wait({work, beating})


async def _work(server: RunnerServer, lease: LeaseAnswer, bench: Bench, heartbeat: Heartbeat) -> ResultV1:
    await heartbeat.announce("preparing_source")
    token = await _source_token(server, lease)
    if token is None:
        return source_result(lease, SourceProblem.NO_TOKEN)
    source = Source(lease.repository.clone_url, lease.commit_sha, token)
    deadline = heartbeat.maximum_deadline
    announce = _from_another_loop(heartbeat.announce)
    return await run_apart(lambda: check_commit(lease, source, bench, announce, deadline=deadline))


async def _source_token(server: RunnerServer, lease: LeaseAnswer) -> Secret | None:
    give_up_at = monotonic() + SOURCE_TOKEN_PATIENCE_SECONDS
    backoff = Backoff()
    while True:
        answer = await server.source_token(lease.lease_id, lease.lease_token)
        match answer:
            case SourceTokenAnswer():
                return answer.token
            case Denied():
                _log.warning("no token for the source: %s", answer.detail)
                return None
            case Unavailable():
                pause_seconds = backoff.pause_seconds(answer.retry_after_seconds)
                _log.warning("no token for the source yet: %s", answer.detail)
                if answer.code in FINAL_SOURCE_CODES or monotonic() + pause_seconds > give_up_at:
                    return None
                await asyncio.sleep(pause_seconds)
            case _:
                assert_never(answer)


async def _report(
    server: RunnerServer, lease: LeaseAnswer, result: ResultV1, heartbeat: Heartbeat
) -> Settled:
    body = result.to_bytes()  # once: the server knows a repeat by its bytes
    backoff = Backoff()
    while True:
        answer = await server.send_result(lease.lease_id, lease.lease_token, body)
        match answer:
            case ResultAnswer():
                verdict = result.summary.partition("\n")[0]
                return Settled(answer.outcome, f"{answer.outcome}: {verdict}")
            case Denied():
                return Settled("refused", f"the server refused the result: {answer.detail}")
            case Unavailable():
                pause_seconds = backoff.pause_seconds(answer.retry_after_seconds)
                _log.warning("result not answered: %s", answer.detail)
                if monotonic() + pause_seconds > heartbeat.deadline + LATE_RESULT_PATIENCE_SECONDS:
                    return Settled("undelivered", f"the result could not be delivered: {answer.detail}")
                await asyncio.sleep(pause_seconds)
            case _:
                assert_never(answer)


def _from_another_loop(announce: Callable[[Stage], Awaitable[None]]) -> Callable[[Stage], Awaitable[None]]:
    """The same call for a coroutine that runs in another thread's loop."""
    loop = asyncio.get_running_loop()

    async def told(stage: Stage) -> None:
        async def here() -> None:
            await announce(stage)

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(here(), loop))

    return told
