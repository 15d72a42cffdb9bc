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
from boardreadyops.agent.giving_back import SHUTDOWN, after_error, give_back, without_kicad
from boardreadyops.agent.heartbeat import Heartbeat, LeaseOver
from boardreadyops.agent.server import Denied, LeaseGranted, RunnerServer, Unavailable
from boardreadyops.agent.work import Bench, check_commit, source_result
from boardreadyops.config import Secret
from boardreadyops.kicad.runner import MissingKicad
from boardreadyops.runner.protocol import (
    LeaseAnswer,
    RelinquishAnswer,
    RelinquishRequest,
    ResultAnswer,
    ResultOutcome,
    SourceTokenAnswer,
    Stage,
)
from boardreadyops.runner.result import ResultV1

SOURCE_TOKEN_PATIENCE_SECONDS = 120.0
LATE_RESULT_PATIENCE_SECONDS = (
    300.0  # a result is offered this long after its lease is over: late ones are recorded
)
LAST_REPORT_SECONDS = 3.0  # a stopped runner lets a result that is ready travel this long
# Answers that look passing (502, 503) but stay as they are.
FINAL_SOURCE_CODES = frozenset({"github_refused", "github_not_configured"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """How a lease ended: the server's word on the result, or why there was none."""

    outcome: ResultOutcome | Literal["lease_over", "given_back", "refused", "undelivered"]
    line: str


async def execute(server: RunnerServer, granted: LeaseGranted, bench: Bench) -> Settled:
    """Do the work of a lease and report. Cancelling stops the work and gives the lease back, within a bound."""
    lease = granted.lease
    heartbeat = Heartbeat(server, granted)
    beating = asyncio.create_task(heartbeat.run())
    work = asyncio.create_task(_work(server, lease, bench, heartbeat))
    try:
        await asyncio.wait({beating, work}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return Settled("lease_over", f"stopped: {beating.result().detail}")
        error = work.exception()
        found = work.result() if error is None else after_error(error)
        if isinstance(found, RelinquishRequest):
            return _given_back(found, await give_back(server, lease, found))
        await heartbeat.announce("reporting")
        return await _report_to_the_end(server, lease, found, heartbeat)
    except asyncio.CancelledError:
        # The heartbeat keeps the lease until the last process of the work is gone: nobody else has the run before.
        await _end(work)
        if not beating.done():
            await _end(beating)
            await give_back(server, lease, SHUTDOWN)
        raise
    finally:
        await _end(work, beating)


async def _end(*tasks: asyncio.Task[ResultV1 | RelinquishRequest] | asyncio.Task[LeaseOver]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def _given_back(request: RelinquishRequest, answer: RelinquishAnswer | Denied | Unavailable) -> Settled:
    match answer:
        case RelinquishAnswer(outcome="stale"):
            return Settled("lease_over", f"the lease was over: {request.message}")
        case RelinquishAnswer():
            return Settled("given_back", f"given back: {request.message}")
        case Denied() | Unavailable():
            return Settled("undelivered", f"{request.message}; not given back: {answer.detail}")
        case _:
            assert_never(answer)


async def _work(
    server: RunnerServer, lease: LeaseAnswer, bench: Bench, heartbeat: Heartbeat
) -> ResultV1 | RelinquishRequest:
    if isinstance(bench.kicad, MissingKicad):
        return without_kicad(bench.kicad)
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


async def _report_to_the_end(
    server: RunnerServer, lease: LeaseAnswer, result: ResultV1, heartbeat: Heartbeat
) -> Settled:
    """Report; when cancelled, only after a moment in which the result can still arrive."""
    reporting = asyncio.create_task(_report(server, lease, result, heartbeat))
    try:
        return await asyncio.shield(reporting)
    except asyncio.CancelledError:
        await asyncio.wait({reporting}, timeout=LAST_REPORT_SECONDS)
        raise
    finally:
        reporting.cancel()
        await asyncio.wait({reporting})


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
