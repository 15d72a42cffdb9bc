"""Webhooks: from headers and raw bytes to a checked delivery, and from a delivery to what it says. No I/O, no clock."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn
from urllib.parse import parse_qsl

from boardreadyops.domain.identity import InstallationState, Observation, RepositoryFacts
from boardreadyops.domain.plain_text import one_line
from boardreadyops.github.fields import MAX_GITHUB_ID, Fields, MalformedField
from boardreadyops.github.pulls import read_listed_repository, read_observation, read_repository

MAX_DELIVERY_ID_CHARACTERS = 100
MAX_EVENT_CHARACTERS = 64
MAX_ACTION_CHARACTERS = 64
MAX_FORM_FIELDS = 16
# More repositories than this become known when something happens in them.
MAX_LISTED_REPOSITORIES = 10_000

_DELIVERY_ID = re.compile(r"[A-Za-z0-9._-]+")
_EVENT = re.compile(r"[a-z0-9_]+")
_SIGNATURE = re.compile(r"sha256=([0-9a-fA-F]{64})")
_INSTALLATION_ACTIONS = frozenset({"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"})

_REQUIRED_HEADERS = ("x-github-delivery", "x-github-event", "x-hub-signature-256")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery that came from GitHub: signed, well-formed JSON. `installation_id` is None when it names none."""

    delivery_id: str
    event: str
    action: str | None
    installation_id: int | None
    body_sha256: bytes
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Rejection:
    """A request to refuse: HTTP status, stable code, and one line that quotes nothing of the request's content."""

    status: Literal[400, 401, 415, 503]
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery that changes nothing here; `reason` is a stable code."""

    reason: str


@dataclass(frozen=True, slots=True)
class PullRequestSeen:
    """A pull request event, whatever its action: an observation of the pull request, its repository and account."""

    account_login: str
    account_id: int
    repository: RepositoryFacts
    observation: Observation


@dataclass(frozen=True, slots=True)
class InstallationSeen:
    """An installation event; `repositories` only when the App was just installed."""

    state: InstallationState
    repositories: tuple[RepositoryFacts, ...]


def receive(
    headers: Mapping[str, str], body: bytes | bytearray, secrets: Sequence[bytes]
) -> Delivery | Rejection:
    """Check one request in a fixed order: headers, signature (any of `secrets`), content type, JSON object.

    Header names may come in any case. The size of `body` is the caller's to bound.
    """
    named = {name.lower(): value for name, value in headers.items()}
    for name in _REQUIRED_HEADERS:
        if not named.get(name):
            return Rejection(400, "missing_header", f"The header {name} is missing.")
    delivery_id, event = named["x-github-delivery"], named["x-github-event"]
    if len(delivery_id) > MAX_DELIVERY_ID_CHARACTERS or not _DELIVERY_ID.fullmatch(delivery_id):
        return Rejection(400, "malformed_header", "x-github-delivery is not an id.")
    if len(event) > MAX_EVENT_CHARACTERS or not _EVENT.fullmatch(event):
        return Rejection(400, "malformed_header", "x-github-event is not the name of an event.")
    if not any(secrets):
        return Rejection(503, "webhook_secret_missing", "No webhook secret is set on this server.")
    if not signed(body, named["x-hub-signature-256"], secrets):
        return Rejection(401, "bad_signature", "The signature does not fit the body and our secret.")
    text = _json_text(named.get("content-type", ""), body)
    if isinstance(text, Rejection):
        return text
    payload = _json_object(text)
    if payload is None:
        return Rejection(400, "malformed_json", "The body is not a JSON object in UTF-8.")
    return Delivery(
        delivery_id=delivery_id,
        event=event,
        action=_action(payload),
        installation_id=_installation_id(payload),
        body_sha256=hashlib.sha256(body).digest(),
        payload=payload,
    )


def signed(body: bytes | bytearray, signature: str, secrets: Sequence[bytes]) -> bool:
    """Whether `sha256=<hex>` is the HMAC of the raw body under one of the secrets. Constant time, all are tried."""
    shape = _SIGNATURE.fullmatch(signature)
    claimed = bytes.fromhex(shape.group(1)) if shape else b""
    fits = False
    for secret in secrets:
        if secret:
            fits |= hmac.compare_digest(hmac.digest(secret, body, "sha256"), claimed)
    return fits


def classify(delivery: Delivery) -> Ignored | PullRequestSeen | InstallationSeen | Rejection:
    """What a delivery says. A malformed field of an event that matters here is a Rejection that names the field."""
    if delivery.event == "ping":
        return Ignored("ping")
    if delivery.payload.get("installation") is None:
        return Ignored("no_installation")
    try:
        match delivery.event:
            case "pull_request":
                return _pull_request(Fields(delivery.payload))
            case "installation" if delivery.action in _INSTALLATION_ACTIONS:
                return _installation(Fields(delivery.payload), delivery.action)
            case "installation":
                return Ignored("unhandled_action")
            case _:
                return Ignored("unhandled_event")
    except MalformedField as error:
        return Rejection(400, "malformed_payload", f"The field {error} is missing or malformed.")


def _pull_request(payload: Fields) -> PullRequestSeen:
    installation_id = payload.within("installation").id()
    repository = payload.within("repository")
    facts = read_repository(repository)
    observation = read_observation(
        payload.within("pull_request"), installation_id=installation_id, repository_id=facts.repository_id
    )
    account = repository.within("owner")
    return PullRequestSeen(account.login(), account.id(), facts, observation)


def _installation(payload: Fields, action: str) -> InstallationSeen:
    installation = payload.within("installation")
    account = installation.within("account")
    login = account.login() if "login" in account else account.login("slug")  # an enterprise has no login
    state = InstallationState(
        installation_id=installation.id(),
        account_login=login,
        account_id=account.id(),
        suspended=action == "suspend" or (action != "unsuspend" and "suspended_at" in installation),
        removed=action == "deleted",
        observed_at=installation.moment("updated_at"),
    )
    listed = payload.each("repositories")[:MAX_LISTED_REPOSITORIES] if action == "created" else []
    return InstallationSeen(state, tuple(read_listed_repository(one, owner=login) for one in listed))


def _json_text(content_type: str, body: bytes | bytearray) -> str | Rejection:
    kind, _, _ = content_type.partition(";")
    try:
        match kind.strip().lower():
            case "application/json":
                return body.decode("utf-8")
            case "application/x-www-form-urlencoded":
                fields = dict(
                    parse_qsl(
                        body.decode("ascii"),
                        strict_parsing=True,
                        errors="strict",
                        max_num_fields=MAX_FORM_FIELDS,
                    )
                )
                return fields.get("payload", "")
            case _:
                return Rejection(
                    415, "unsupported_media_type", "Send application/json, or the form that GitHub sends."
                )
    except ValueError:
        return Rejection(
            400, "malformed_body", "The body is not text in the encoding that its type asks for."
        )


def _json_object(text: str) -> Mapping[str, object] | None:
    """The document, if it is an object; NaN, numbers without end and nests without end are no JSON here."""
    try:
        document: object = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _action(payload: Mapping[str, object]) -> str | None:
    action = payload.get("action")
    return one_line(action, limit_characters=MAX_ACTION_CHARACTERS) if isinstance(action, str) else None


def _installation_id(payload: Mapping[str, object]) -> int | None:
    installation = payload.get("installation")
    identity = installation.get("id") if isinstance(installation, Mapping) else None
    is_id = isinstance(identity, int) and not isinstance(identity, bool) and 0 < identity <= MAX_GITHUB_ID
    return identity if is_id else None
