"""The relay: what the outbox and the publications owe GitHub, sent. Any number of replicas; PostgreSQL fences them.

Up to MAX_SENDS run at once. A slow or limited installation keeps only its own rows waiting.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from boardreadyops.db.outbox import ClaimedEffect, claim_outbox, defer_outbox, settle_outbox
from boardreadyops.db.pool import Database, DatabaseUnavailable
from boardreadyops.db.publications import ClaimedPublication, claim_publications, defer_publication
from boardreadyops.github.client import GitHubClient
from boardreadyops.github.requests import Failure
from boardreadyops.worker.backoff import delay_seconds
from boardreadyops.worker.confirming import confirm
from boardreadyops.worker.publishing import Fenced, Published, publish
from boardreadyops.worker.ticker import Ticker

MAX_SENDS = 16
# Half of the places: a hung installation leaves the others the other half.
MAX_SENDS_PER_INSTALLATION = 8
POLL_SECONDS = 0.25
DOUBT_SECONDS = 60
# A send is a few requests, each with its own deadline; it ends before its lease does.
REQUESTS_PER_SEND = 3
LEASE_MARGIN_SECONDS = 5
# How long a row waits whose installation has all its places taken.
CROWDED_SECONDS = 1

logger = logging.getLogger(__name__)

Claim = ClaimedPublication | ClaimedEffect


@dataclass(frozen=True, slots=True)
class _Limit:
    until: float
    code: str


class Relay:
    """Sends what is due. `run` until `stop`, or `run_once` for a single round; without GitHub it only says so."""

    def __init__(
        self,
        database: Database,
        github: GitHubClient | None,
        *,
        public_url: str,
        doubt_seconds: int = DOUBT_SECONDS,
        lease_seconds: int | None = None,
        poll_seconds: float = POLL_SECONDS,
        clock: Callable[[], datetime],
        rng: random.Random | None = None,
    ) -> None:
        """`lease_seconds` must exceed the deadline of a send, which is made of GitHub's timeouts; ValueError."""
        timeout_seconds = github.timeout_seconds if github is not None else 1.0
        self._send_deadline_seconds = REQUESTS_PER_SEND * timeout_seconds
        least = math.ceil(self._send_deadline_seconds) + LEASE_MARGIN_SECONDS
        self._lease_seconds = least if lease_seconds is None else lease_seconds
        if self._lease_seconds < self._send_deadline_seconds:
            raise ValueError("a lease must outlive the requests made under it")
        self._database = database
        self._github = github
        self._public_url = public_url
        self._doubt_seconds = doubt_seconds
        self._clock = clock
        self._rng = rng or random.Random()
        self._ticker = Ticker("relay", self._start_due, interval_seconds=poll_seconds, rng=self._rng)
        self._sends: set[asyncio.Task[None]] = set()
        self._busy: Counter[int] = Counter()
        self._limits: dict[int, _Limit] = {}

    def wake(self) -> None:
        """Look for due work now rather than at the next poll."""
        self._ticker.wake()

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the sends under way have ended."""
        self._ticker.stop()

    async def run(self) -> None:
        """Send until `stop`. Cancelling it cuts the sends: their rows are doubtful and will be looked at first."""
        if self._github is None:
            logger.warning("event=relay_idle detail=no GitHub App is configured; nothing is published")
        try:
            await self._ticker.run()
            if self._sends:
                await asyncio.wait(self._sends)
        finally:
            for send in self._sends:
                send.cancel()

    async def run_once(self) -> int:
        """Claim what is due, up to MAX_SENDS of each kind, send it, and return how many rows were claimed."""
        count = await self._start_due()
        while self._sends:
            await asyncio.wait(self._sends)
        return count

    async def _start_due(self) -> int:
        """Claim as much as there are free places and start sending; what cannot be sent now is given back."""
        free = MAX_SENDS - len(self._sends)
        if self._github is None or free <= 0:
            return 0
        async with self._database.connection() as connection:
            effects = await claim_outbox(connection, limit=free, lease_seconds=self._lease_seconds)
        claims: list[Claim] = list(effects)
        if len(effects) < free:
            async with self._database.connection() as connection:
                claims += await claim_publications(
                    connection,
                    limit=free - len(effects),
                    lease_seconds=self._lease_seconds,
                    doubt_seconds=self._doubt_seconds,
                )
        for claim in claims:
            self._start(claim, self._github)
        return len(claims)

    def _start(self, claim: Claim, github: GitHubClient) -> None:
        installation_id = claim.installation_id
        refusal = self._refusal(installation_id)
        work: Coroutine[object, object, None]
        if refusal is not None:
            work = self._give_back(claim, refusal, refusal.retry_after_seconds or CROWDED_SECONDS, sent=False)
        else:
            work = self._send(claim, github)
        self._busy[installation_id] += 1
        task = asyncio.create_task(work)
        self._sends.add(task)
        task.add_done_callback(lambda done: self._ended(done, claim))

    def _refusal(self, installation_id: int) -> Failure | None:
        """Why nothing can be sent for this installation now: GitHub asked for a pause, or its places are taken."""
        limit = self._limits.get(installation_id)
        if limit is not None:
            left = limit.until - self._clock().timestamp()
            if left > 0:
                return Failure("rate_limited", limit.code, "GitHub asked this installation to wait", left)
            del self._limits[installation_id]
        if self._busy[installation_id] >= MAX_SENDS_PER_INSTALLATION:
            return Failure("transient", "crowded", "other sends of this installation are under way")
        return None

    async def _send(self, claim: Claim, github: GitHubClient) -> None:
        try:
            async with asyncio.timeout(self._send_deadline_seconds):
                told = await self._deliver(claim, github)
        except TimeoutError:
            told = Failure("uncertain", "send_deadline", "the send as a whole took too long")
        if isinstance(told, Failure):
            await self._fail(claim, told)
        else:
            _log(logging.INFO, "sent", claim, outcome=told, lag_seconds=self._lag(claim))

    async def _deliver(self, claim: Claim, github: GitHubClient) -> str | Failure:
        match claim:
            case ClaimedPublication():
                told = await publish(self._database, github, claim, public_url=self._public_url)
                match told:
                    case Published():
                        return told.action
                    case Fenced():
                        return "fenced"
                    case Failure():
                        return told
                    case _ as never:
                        assert_never(never)
            case ClaimedEffect(kind="confirm_pull_request"):
                return await confirm(self._database, github, claim)
            case ClaimedEffect():
                async with self._database.connection() as connection:
                    await settle_outbox(
                        connection,
                        effect_id=claim.effect_id,
                        generation=claim.generation,
                        outcome_code="not_available",
                    )
                return "not_available"

    async def _fail(self, claim: Claim, failure: Failure) -> None:
        delay = delay_seconds(
            failure, send_count=claim.send_count, doubt_seconds=self._doubt_seconds, rng=self._rng
        )
        if failure.error_class == "rate_limited":
            until = self._clock().timestamp() + (failure.retry_after_seconds or delay)
            self._limits[claim.installation_id] = _Limit(until, failure.code)
        await self._give_back(claim, failure, delay, sent=True)
        _log(logging.WARNING, "send_failed", claim, error_class=failure.error_class, code=failure.code,
             detail=failure.detail, delay_seconds=delay)  # fmt: skip

    async def _give_back(self, claim: Claim, failure: Failure, delay: float, *, sent: bool) -> None:
        error = f"{failure.code}: {failure.detail}"
        async with self._database.connection() as connection:
            match claim:
                case ClaimedPublication():
                    await defer_publication(
                        connection,
                        publication_id=claim.publication_id,
                        generation=claim.generation,
                        error_class=failure.error_class,
                        error=error,
                        delay_seconds=math.ceil(delay),
                        sent=sent,
                    )
                case ClaimedEffect():
                    await defer_outbox(
                        connection,
                        effect_id=claim.effect_id,
                        generation=claim.generation,
                        error=error,
                        delay_seconds=math.ceil(delay),
                        sent=sent,
                    )
                case _ as never:
                    assert_never(never)

    def _ended(self, send: asyncio.Task[None], claim: Claim) -> None:
        """Free the place. A send that broke is not given back: its lease runs out and the doubt after it is honoured."""
        self._sends.discard(send)
        self._busy[claim.installation_id] -= 1
        if self._busy[claim.installation_id] <= 0:
            del self._busy[claim.installation_id]
        self._ticker.wake()
        if send.cancelled() or send.exception() is None:
            return
        error = send.exception()
        if isinstance(error, DatabaseUnavailable):
            _log(logging.WARNING, "send_broken", claim, detail=str(error))
        else:
            logger.error("event=send_broken %s", _named(claim), exc_info=error)

    def _lag(self, claim: Claim) -> str:
        """Seconds since the change that was told, where its time is in the claim."""
        if not isinstance(claim, ClaimedPublication):
            return "unknown"
        name = {"queued": "queued_at", "running": ""}.get(claim.payload.get("status") or "", "finished_at")
        changed_at = claim.payload.get(name)
        if changed_at is None:
            return "unknown"
        lag = self._clock() - datetime.fromisoformat(changed_at).astimezone(UTC)
        return f"{lag.total_seconds():.3f}"


def _log(level: int, event: str, claim: Claim, **fields: object) -> None:
    said = " ".join(f"{name}={value}" for name, value in fields.items())
    logger.log(level, "event=%s %s %s", event, _named(claim), said)


def _named(claim: Claim) -> str:
    fields: Mapping[str, object]
    match claim:
        case ClaimedPublication():
            fields = {"kind": "publication", "id": claim.publication_id, "seq": claim.seq,
                      "run": claim.release_run_id, "status": claim.payload.get("status")}  # fmt: skip
        case ClaimedEffect():
            fields = {"kind": claim.kind, "id": claim.effect_id}
        case _ as never:
            assert_never(never)
    always = {
        "installation": claim.installation_id,
        "repository": claim.repository_id,
        "try": claim.send_count,
    }
    return " ".join(f"{name}={value}" for name, value in {**fields, **always}.items())
