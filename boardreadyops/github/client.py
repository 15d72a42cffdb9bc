"""The only socket to GitHub: one request with one deadline, tokens minted on demand, every failure a value."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

import httpx

from boardreadyops.config import Secret
from boardreadyops.github.auth import app_jwt, signing_key
from boardreadyops.github.fields import Fields, MalformedField
from boardreadyops.github.requests import (
    Answer,
    Failure,
    Request,
    classify_answer,
    mint_token,
    request_headers,
)

# Fifty check runs with full summaries fit.
MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_REDIRECTS = 3
MAX_CONNECTIONS = 100
MAX_CACHED_TOKENS = 10_000
MAX_TOKEN_CHARACTERS = 1_000
# A connection idle for longer may be closed by the other side just when we use it.
IDLE_CONNECTION_SECONDS = 20.0
TOKEN_MARGIN_SECONDS = 5 * 60
_REDIRECTS = frozenset({301, 302, 307, 308})

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Token:
    """An installation token and when it ends (UTC)."""

    secret: Secret
    expires_at: datetime


class GitHubClient:
    """GitHub as one App sees it. Safe for many tasks of one event loop; `aclose` it at the end."""

    def __init__(
        self, api_url: str, app_id: int, private_key: Secret, timeout_seconds: float, clock: Clock
    ) -> None:
        """Make a client; the key is checked now, GitHub is asked later. PrivateKeyRefused."""
        signing_key(private_key)
        self.app_id = app_id
        self.timeout_seconds = timeout_seconds
        self._api_url = api_url.rstrip("/")
        self._private_key = private_key
        self._clock = clock
        self._tokens: dict[int, Token] = {}
        self._minting: dict[int, asyncio.Lock] = {}
        self._http = httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,  # no proxy, certificate or netrc that the settings do not name
            timeout=httpx.Timeout(timeout_seconds),
            limits=httpx.Limits(
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=MAX_CONNECTIONS,
                keepalive_expiry=IDLE_CONNECTION_SECONDS,
            ),
        )

    def __repr__(self) -> str:
        return f"GitHubClient(app_id={self.app_id})"

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._http.aclose()

    async def installation_token(
        self,
        installation_id: int,
        *,
        repository_ids: Sequence[int] | None = None,
        permissions: Mapping[str, str] | None = None,
    ) -> Token | Failure:
        """A token of this installation: a restricted one is always new, the unrestricted one is kept in memory."""
        if repository_ids is not None or permissions is not None:
            return await self._mint(installation_id, repository_ids, permissions)
        lock = self._minting.setdefault(installation_id, asyncio.Lock())
        async with lock:
            known = self._tokens.get(installation_id)
            if known is not None and known.expires_at - self._clock() > timedelta(
                seconds=TOKEN_MARGIN_SECONDS
            ):
                return known
            minted = await self._mint(installation_id, None, None)
            if isinstance(minted, Token):
                self._remember(installation_id, minted)
            return minted

    async def request(self, installation_id: int, request: Request) -> Answer | Failure:
        """Send a request with this installation's token, once more with a new one when that is refused (401)."""
        token = await self.installation_token(installation_id)
        if isinstance(token, Failure):
            return token
        answer = await self._send(request, token.secret, "installation")
        if isinstance(answer, Failure) and answer.code == "unauthorized":
            if self._tokens.get(installation_id) is token:
                del self._tokens[installation_id]
            token = await self.installation_token(installation_id)
            if isinstance(token, Failure):
                return token
            answer = await self._send(request, token.secret, "installation")
        return answer

    def _remember(self, installation_id: int, token: Token) -> None:
        if len(self._tokens) >= MAX_CACHED_TOKENS:
            self._tokens.clear()
            self._minting = {one: lock for one, lock in self._minting.items() if lock.locked()}
        self._tokens[installation_id] = token

    async def _mint(
        self,
        installation_id: int,
        repository_ids: Sequence[int] | None,
        permissions: Mapping[str, str] | None,
    ) -> Token | Failure:
        request = mint_token(installation_id, repository_ids=repository_ids, permissions=permissions)
        proof = app_jwt(self.app_id, self._private_key, int(self._clock().timestamp()))
        answer = await self._send(request, proof, "app")
        if isinstance(answer, Failure):
            return _mint_failure(answer)
        try:
            fields = Fields(answer.body)
            secret = Secret(fields.text("token", limit_characters=MAX_TOKEN_CHARACTERS))
            return Token(secret, fields.moment("expires_at"))
        except MalformedField as error:
            return Failure("transient", "malformed_answer", f"the field {error} of a token is malformed")

    async def _send(
        self, request: Request, credential: Secret, bearer: Literal["app", "installation"]
    ) -> Answer | Failure:
        """One request within one deadline, redirects on GitHub's own host included."""
        headers = request_headers(credential, bearer=bearer)
        url = self._api_url + request.path
        departure = _Departure()
        try:
            async with asyncio.timeout(self.timeout_seconds):
                for _ in range(MAX_REDIRECTS + 1):
                    departure = _Departure()
                    answer = await self._exchange(request, url, headers, departure)
                    if not isinstance(answer, _Redirect):
                        return answer
                    url = answer.url
        except TimeoutError:
            return _lost(request, departure, "timeout", f"no answer within {self.timeout_seconds:g} s")
        except httpx.HTTPError as error:
            return _lost(request, departure, "connection_failed", type(error).__name__)
        return Failure("denied", "too_many_redirects", f"{request.method} was redirected too often")

    async def _exchange(
        self, request: Request, url: str, headers: Mapping[str, str], departure: _Departure
    ) -> Answer | Failure | _Redirect:
        content = None if request.body is None else json.dumps(request.body).encode()
        sent = {**headers, "content-type": "application/json"} if content is not None else dict(headers)
        async with self._http.stream(
            request.method, url, headers=sent, content=content, extensions={"trace": departure.note}
        ) as response:
            if response.status_code in _REDIRECTS:
                return _redirect(request, url, response.headers.get("location", ""))
            raw = bytearray()
            async for chunk in response.aiter_bytes():
                raw += chunk
                if len(raw) > MAX_ANSWER_BYTES:
                    return _unreadable(request, "answer_too_large")
            named = {name.lower(): value for name, value in response.headers.items()}
            status = response.status_code
        try:
            body = json.loads(raw) if raw else None
        except (ValueError, RecursionError):
            if 200 <= status < 300:
                return _unreadable(request, "malformed_answer")
            body = None
        return classify_answer(request, status, named, body, now_epoch_seconds=self._clock().timestamp())


@dataclass(frozen=True, slots=True)
class _Redirect:
    url: str


class _Departure:
    """Notes whether a request left this machine: before that, a lost connection executed nothing."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = False

    async def note(self, event: str, info: object) -> None:
        self.left = self.left or event.endswith("send_request_headers.started")


def _redirect(request: Request, url: str, location: str) -> _Redirect | Failure:
    """Follow only on the same host: the credential belongs to it alone."""
    try:
        target = str(httpx.URL(url).join(location)) if location else ""
    except httpx.InvalidURL:
        target = ""
    here, there = urlsplit(url), urlsplit(target)
    if (here.scheme, here.netloc) != (there.scheme, there.netloc):
        return Failure("denied", "redirected_away", f"{request.method} was redirected to another host")
    return _Redirect(target)


def _lost(request: Request, departure: _Departure, code: str, detail: str) -> Failure:
    executed = request.mutates and departure.left
    return Failure("uncertain" if executed else "transient", code, f"{request.method} failed: {detail}")


def _unreadable(request: Request, code: str) -> Failure:
    return Failure(
        "uncertain" if request.mutates else "transient",
        code,
        f"{request.method} was answered with no usable JSON",
    )


def _mint_failure(failure: Failure) -> Failure:
    """Nothing is lost with an unanswered mint. 401 is about our App and 404 about the installation, not about a token
    that is stale or about what the token was for.
    """
    if failure.error_class == "uncertain":
        return Failure("transient", failure.code, failure.detail, failure.retry_after_seconds)
    if failure.error_class == "gone":
        return Failure("gone", "installation_gone", failure.detail)
    if failure.code == "unauthorized":
        return Failure("denied", "app_unauthorized", failure.detail)
    return failure
