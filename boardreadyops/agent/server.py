"""The runner's side of the protocol: one call per message, every answer a value."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from time import monotonic
from typing import Self, TypeVar
from uuid import UUID

import httpx

from boardreadyops import __version__
from boardreadyops.config import Secret
from boardreadyops.domain.plain_text import one_line
from boardreadyops.runner.protocol import (
    API_PREFIX,
    HeartbeatAnswer,
    HeartbeatRequest,
    LeaseAnswer,
    LeaseRequest,
    Problem,
    RegistrationAnswer,
    RegistrationRequest,
    RelinquishAnswer,
    RelinquishRequest,
    ResultAnswer,
    SourceTokenAnswer,
)
from boardreadyops.runner.wire import Message, Refused, read_message

CALL_TIMEOUT_SECONDS = 10.0
RESULT_TIMEOUT_SECONDS = 30.0
MAX_ANSWER_BYTES = 1024 * 1024
MAX_DETAIL_CHARACTERS = 300
_RETRY_LATER = frozenset({408, 425, 429, *range(500, 600)})

Wanted = TypeVar("Wanted", bound=Message)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No usable answer: whether the request was executed is unknown. Try again, later than the server asked for."""

    detail: str
    retry_after_seconds: float | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """The server refused for good."""

    status: int
    detail: str


@dataclass(frozen=True, slots=True)
class LeaseGranted:
    """A lease, with this machine's monotonic time at which it was asked for."""

    lease: LeaseAnswer
    sent_at: float


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """No run waits for this runner."""


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """The lease of this request is over already; ask anew under another id."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes


class RunnerServer:
    """The server's runner API. Follows no redirects, for a token must not go elsewhere."""

    def __init__(self, url: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/") + API_PREFIX,
            trust_env=False,
            headers={"user-agent": f"boardreadyops-runner/{__version__}", "accept-encoding": "identity"},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def register(self, request: RegistrationRequest) -> RegistrationAnswer | Denied | Unavailable:
        """Turn an enrolment token into a registration; not repeatable, the token serves once."""
        answer = await self._exchange("/registrations", None, request.to_bytes())
        return answer if isinstance(answer, Unavailable) else _read(RegistrationAnswer, answer, 201)

    async def claim(
        self, token: Secret, request: LeaseRequest
    ) -> LeaseGranted | NothingToDo | RequestEnded | Denied | Unavailable:
        """Ask for a lease, waiting for one as long as the request says. Repeatable with the same request id."""
        sent_at = monotonic()
        timeout_seconds = CALL_TIMEOUT_SECONDS + request.wait_seconds
        answer = await self._exchange("/leases", token, request.to_bytes(), timeout_seconds)
        if isinstance(answer, Unavailable):
            return answer
        if answer.status == 204:
            return NothingToDo()
        if answer.status == 409:
            return RequestEnded()
        lease = _read(LeaseAnswer, answer, 200, 201)
        return LeaseGranted(lease, sent_at) if isinstance(lease, LeaseAnswer) else lease

    async def heartbeat(
        self, lease_id: UUID, token: Secret, request: HeartbeatRequest, *, timeout_seconds: float
    ) -> HeartbeatAnswer | Denied | Unavailable:
        """Give a sign of life. Repeatable."""
        answer = await self._exchange(
            f"/leases/{lease_id}/heartbeat", token, request.to_bytes(), timeout_seconds
        )
        return answer if isinstance(answer, Unavailable) else _read(HeartbeatAnswer, answer, 200)

    async def relinquish(
        self, lease_id: UUID, token: Secret, request: RelinquishRequest, *, timeout_seconds: float
    ) -> RelinquishAnswer | Denied | Unavailable:
        """Give the lease back. Repeatable."""
        answer = await self._exchange(
            f"/leases/{lease_id}/relinquish", token, request.to_bytes(), timeout_seconds
        )
        return answer if isinstance(answer, Unavailable) else _read(RelinquishAnswer, answer, 200)

    async def source_token(self, lease_id: UUID, token: Secret) -> SourceTokenAnswer | Denied | Unavailable:
        """Get a token that reads the source. Repeatable."""
        answer = await self._exchange(f"/leases/{lease_id}/source-token", token, b"")
        return answer if isinstance(answer, Unavailable) else _read(SourceTokenAnswer, answer, 200)

    async def send_result(
        self, lease_id: UUID, token: Secret, body: bytes
    ) -> ResultAnswer | Denied | Unavailable:
        """Report. Repeatable with the same bytes."""
        path = f"/leases/{lease_id}/result"
        answer = await self._exchange(path, token, body, RESULT_TIMEOUT_SECONDS)
        if isinstance(answer, Unavailable):
            return answer
        # 404 and 409 are outcomes like the others, unless the answer is a problem of another kind.
        return _read(ResultAnswer, answer, 200, 202, 404, 409)

    async def _exchange(
        self, path: str, token: Secret | None, body: bytes, timeout_seconds: float = CALL_TIMEOUT_SECONDS
    ) -> _Answer | Unavailable:
        headers = {"content-type": "application/json"} if body else {}
        if token is not None:
            headers["authorization"] = f"Bearer {token.reveal()}"
        request = self._client.build_request(
            "POST", path, content=body, headers=headers, timeout=timeout_seconds
        )
        try:
            async with asyncio.timeout(timeout_seconds):
                response = await self._client.send(request, stream=True)
                try:
                    answer = await _bounded_body(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            return Unavailable(f"the server did not answer within {timeout_seconds:.0f} s")
        except httpx.RequestError as error:
            return Unavailable(f"the server cannot be reached ({type(error).__name__})")
        if answer is None:
            return Unavailable("the server's answer is too large")
        if response.status_code in _RETRY_LATER:
            detail, code = _problem(_Answer(response.status_code, answer))
            return Unavailable(detail, _seconds(response.headers.get("retry-after")), code)
        return _Answer(response.status_code, answer)


async def _bounded_body(response: httpx.Response) -> bytes | None:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            return None
    return bytes(body)


def _read(model: type[Wanted], answer: _Answer, *statuses: int) -> Wanted | Denied | Unavailable:
    if answer.status in statuses:
        message = read_message(model, answer.body)
        if not isinstance(message, Refused):
            return message
        if answer.status < 300:
            return Unavailable(f"the server's answer cannot be read ({message.detail})")
    return Denied(answer.status, _problem(answer)[0])


def _problem(answer: _Answer) -> tuple[str, str]:
    """What the server says is wrong, in one line, and its code."""
    problem = read_message(Problem, answer.body)
    if isinstance(problem, Refused):
        return f"the server answered {answer.status}", ""
    words = f"{problem.detail or problem.title} ({problem.code})"
    return one_line(words, limit_characters=MAX_DETAIL_CHARACTERS), problem.code


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else None
