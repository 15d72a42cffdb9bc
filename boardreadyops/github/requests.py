"""Requests to GitHub's REST API and what an answer to one means. No I/O, no clock; GitHub's own words as names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from gidgethub.sansio import accept_format, create_headers

from boardreadyops.config import Secret
from boardreadyops.domain.effects import ErrorClass
from boardreadyops.domain.plain_text import one_line

API_VERSION = "2022-11-28"
USER_AGENT = "BoardReadyOps"
CHECK_RUNS_PER_PAGE = 50
MAX_DETAIL_CHARACTERS = 300
# GitHub asks for a minute when a secondary limit comes without `retry-after`.
SECONDARY_LIMIT_PAUSE_SECONDS = 60.0
# The primary limit resets within the hour; nothing GitHub says makes us wait longer than this.
MAX_RETRY_AFTER_SECONDS = 2 * 3_600.0

_THROTTLED_WORDS = ("secondary rate limit", "abuse detection", "api rate limit exceeded")

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `path` begins with a slash and holds its query. A mutation may not be repeated without a look."""

    method: Literal["GET", "POST", "PATCH"]
    path: str
    body: JsonObject | None = None

    @property
    def mutates(self) -> bool:
        """Whether GitHub changes something when it executes this."""
        return self.method != "GET"


@dataclass(frozen=True, slots=True)
class Answer:
    """GitHub did what was asked; `body` is its JSON, None when empty."""

    status: int
    body: object


@dataclass(frozen=True, slots=True)
class Failure:
    """GitHub or the network did not. `code` is stable; `detail` one bounded line without secrets."""

    error_class: ErrorClass
    code: str
    detail: str
    retry_after_seconds: float | None = None


def request_headers(token: Secret, *, bearer: Literal["app", "installation"]) -> dict[str, str]:
    """The headers every request carries, with its credential."""
    accept = accept_format()
    text = token.reveal()
    if bearer == "app":
        headers = create_headers(USER_AGENT, accept=accept, jwt=text)
    else:
        headers = create_headers(USER_AGENT, accept=accept, oauth_token=text)
    return {**headers, "x-github-api-version": API_VERSION}


def mint_token(
    installation_id: int,
    *,
    repository_ids: Sequence[int] | None,
    permissions: Mapping[str, str] | None,
) -> Request:
    """Make an installation token, restricted when repositories or permissions are given."""
    body: dict[str, object] = {}
    if repository_ids is not None:
        body["repository_ids"] = list(repository_ids)
    if permissions is not None:
        body["permissions"] = dict(permissions)
    return Request("POST", f"/app/installations/{installation_id:d}/access_tokens", body)


def create_check_run(owner: str, name: str, body: JsonObject) -> Request:
    """Create a check run."""
    return Request("POST", f"{_repository(owner, name)}/check-runs", body)


def update_check_run(owner: str, name: str, check_run_id: int, body: JsonObject) -> Request:
    """Update a check run."""
    return Request("PATCH", f"{_repository(owner, name)}/check-runs/{check_run_id:d}", body)


def get_check_run(owner: str, name: str, check_run_id: int) -> Request:
    """Read a check run."""
    return Request("GET", f"{_repository(owner, name)}/check-runs/{check_run_id:d}")


def list_check_runs(
    owner: str, name: str, commit_sha: str, *, check_name: str, app_id: int, page: int
) -> Request:
    """A page of all check runs (not only the latest) of our App with this name on a commit; pages count from 1."""
    query = urlencode(
        {
            "check_name": check_name,
            "filter": "all",
            "app_id": app_id,
            "per_page": CHECK_RUNS_PER_PAGE,
            "page": page,
        }
    )
    return Request("GET", f"{_repository(owner, name)}/commits/{_segment(commit_sha)}/check-runs?{query}")


def get_pull(owner: str, name: str, number: int) -> Request:
    """Read a pull request."""
    return Request("GET", f"{_repository(owner, name)}/pulls/{number:d}")


def classify_answer(
    request: Request, status: int, headers: Mapping[str, str], body: object, *, now_epoch_seconds: float
) -> Answer | Failure:
    """What a complete answer means. `headers` in lower case; `body` parsed JSON, or None if it is none."""
    if 200 <= status < 300:
        return Answer(status, body)
    message = _message(body)
    detail = f"{request.method} answered {status}" + (f": {message}" if message else "")
    limited = status == 429 or (status == 403 and _is_limited(headers, message))
    if limited:
        return Failure("rate_limited", "rate_limited", detail, _pause_seconds(headers, now_epoch_seconds))
    match status:
        case 401:
            return Failure("transient", "unauthorized", detail)
        case 403:
            return Failure("denied", "suspended" if "suspended" in message.lower() else "forbidden", detail)
        case 404:
            return Failure("gone", "not_found", detail)
        case 410:
            return Failure("gone", "gone", detail)
        case 422 if "no commit found" in message.lower():
            return Failure("gone", "no_such_commit", detail)
        case 500 | 502 | 504 if request.mutates:
            # A gateway that gave up says nothing about what happened behind it.
            return Failure("uncertain", "server_error", detail)
        case 408 | 409 | 425:
            return Failure("transient", "try_again", detail)
        case _ if status >= 500:
            return Failure("transient", "server_error", detail, _retry_after(headers))
        case 422:
            return Failure("denied", "invalid_request", detail)
        case _:
            return Failure("denied", "refused", detail)


def _repository(owner: str, name: str) -> str:
    return f"/repos/{_segment(owner)}/{_segment(name)}"


def _segment(text: str) -> str:
    """One path segment that stays one: a name is never a way up or out."""
    if text in ("", ".", ".."):
        raise ValueError("a path segment must be a name")
    return quote(text, safe="")


def _message(body: object) -> str:
    """GitHub's explanation: its message and those of its errors."""
    if not isinstance(body, Mapping):
        return ""
    parts = [body.get("message")]
    errors = body.get("errors")
    for error in errors[:5] if isinstance(errors, list) else []:
        parts.append(error.get("message") if isinstance(error, Mapping) else error)
    text = "; ".join(part for part in parts if isinstance(part, str))
    return one_line(text, limit_characters=MAX_DETAIL_CHARACTERS)


def _is_limited(headers: Mapping[str, str], message: str) -> bool:
    words = message.lower()
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or any(one in words for one in _THROTTLED_WORDS)
    )


def _pause_seconds(headers: Mapping[str, str], now_epoch_seconds: float) -> float:
    asked = _retry_after(headers)
    if asked is None and headers.get("x-ratelimit-remaining") == "0":
        reset = _number(headers.get("x-ratelimit-reset"))
        asked = None if reset is None else max(1.0, reset - now_epoch_seconds)
    return min(MAX_RETRY_AFTER_SECONDS, SECONDARY_LIMIT_PAUSE_SECONDS if asked is None else asked)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    asked = _number(headers.get("retry-after"))
    return None if asked is None else min(MAX_RETRY_AFTER_SECONDS, asked)


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 12 else None
