"""Webhook payloads in the shape of real ones, signed and sent over real HTTP."""

import asyncio
import hashlib
import hmac
import http.client
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from boardreadyops.standin.calls import Json
from boardreadyops.standin.shapes import EXAMPLE_API, EXAMPLE_WEB, Shape, Shapes, example, rewritten
from boardreadyops.standin.state import Account, Clock, Installation, PullRequest, Repository

DELIVERY_TIMEOUT_SECONDS = 10
MAXIMUM_ANSWER_BYTES = 1_048_576
HOOK_ID = 500_000_001
USER_AGENT = "GitHub-Hookshot/5a7d1e0"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook, sent or kept back. `status` is None when no answer came; `failure` then says why."""

    delivery_id: str
    event: str
    action: str | None
    body: bytes
    headers: Mapping[str, str]
    sent_at: datetime
    status: int | None
    answer: Json
    failure: str | None

    @property
    def payload(self) -> dict[str, Any]:
        """Return the payload that was signed and sent."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(frozen=True, slots=True)
class Payloads:
    """Builds payloads: the vendored real one of that event and action, its every field that we know replaced."""

    shapes: Shapes

    def pull_request(
        self, action: str, repository: Repository, pull: PullRequest, sender: Account, before: str | None
    ) -> Shape:
        """Return a `pull_request` payload; `before` is the head before a synchronize."""
        ours = {
            "action": action,
            "number": pull.number,
            "pull_request": self.shapes.pull_request(repository, pull),
            "before": before,
            "after": pull.head_sha,
            "repository": self.shapes.repository(repository),
            "installation": {"id": repository.installation_id, "node_id": f"I_{repository.installation_id}"},
            "sender": self.shapes.user(sender),
        }
        return self._fitted_payload(f"pull_request.{action}", ours)

    def installation(
        self, action: str, installation: Installation, repositories: list[Repository], sender: Account
    ) -> Shape:
        """Return an `installation` payload."""
        short = [
            {
                "id": one.id,
                "node_id": f"R_{one.id}",
                "name": one.name,
                "full_name": one.full_name,
                "private": one.private,
            }
            for one in repositories
        ]
        ours = {
            "action": action,
            "installation": self.shapes.installation(installation),
            "repositories": short,
            "sender": self.shapes.user(sender),
        }
        return self._fitted_payload(f"installation.{action}", ours)

    def ping(self, repository: Repository | None, sender: Account, webhook_url: str) -> Shape:
        """Return a `ping` payload; without a repository it names none."""
        hook = {"id": HOOK_ID, "config": {"content_type": "json", "url": webhook_url, "insecure_ssl": "0"}}
        ours: Shape = {"hook_id": HOOK_ID, "hook": hook, "sender": self.shapes.user(sender)}
        if repository is not None:
            ours["repository"] = self.shapes.repository(repository)
        payload = self._fitted_payload("ping", ours)
        if repository is None:
            del payload["repository"]
        return payload

    def _fitted_payload(self, name: str, ours: Shape) -> Shape:
        payload: Shape = fitted(example(name), ours)
        full_name = example("ping")["repository"]["full_name"]
        mine = payload.get("repository", {}).get("full_name", "")
        origin = self.shapes.origin
        # What is left of the example are URLs in places that we keep no state for.
        remains = [(full_name, mine), (EXAMPLE_API, origin), (EXAMPLE_WEB, origin)]
        scrubbed: Shape = rewritten(payload, remains)
        return scrubbed


def fitted(theirs: Json, ours: Json) -> Json:
    """Return our values in the example's shape: its keys, its notation of times, its value where we have none."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return {key: fitted(value, ours[key]) if key in ours else value for key, value in theirs.items()}
    if isinstance(theirs, int) and isinstance(ours, str):
        # Some payloads carry epoch seconds where the REST API has an ISO time.
        return int(datetime.fromisoformat(ours).timestamp())
    return ours


class Webhooks:
    """Signs, sends and records deliveries. `url` may be set later; without it deliveries fail and can be redelivered."""

    def __init__(self, *, secret: str, url: str | None, app_id: int, clock: Clock) -> None:
        """Take the secret that signs; nothing is sent yet."""
        self.url = url
        self.deliveries: list[Delivery] = []
        self._secret = secret.encode()
        self._app_id = app_id
        self._clock = clock

    async def deliver(self, event: str, payload: Shape) -> Delivery:
        """Send a new delivery and return how it went."""
        return await self._send(self._new(event, payload))

    def lose(self, event: str, payload: Shape) -> Delivery:
        """Record a delivery as lost on the way: it can be redelivered."""
        delivery = self._new(event, payload)
        self.deliveries.append(delivery)
        return delivery

    async def redeliver(self, delivery_id: str) -> Delivery:
        """Send the same bytes with the same id once more; KeyError for an unknown id."""
        for delivery in self.deliveries:
            if delivery.delivery_id == delivery_id:
                return await self._send(delivery)
        raise KeyError(delivery_id)

    def _new(self, event: str, payload: Shape) -> Delivery:
        body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
        delivery_id = str(uuid.uuid4())
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            "X-GitHub-Delivery": delivery_id,
            "X-GitHub-Event": event,
            "X-GitHub-Hook-ID": str(HOOK_ID),
            "X-GitHub-Hook-Installation-Target-ID": str(self._app_id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": "sha1=" + hmac.new(self._secret, body, hashlib.sha1).hexdigest(),
            "X-Hub-Signature-256": "sha256=" + hmac.new(self._secret, body, hashlib.sha256).hexdigest(),
        }
        action = payload.get("action")
        return Delivery(
            delivery_id, event, action, body, headers, self._clock(), None, None, "lost on the way"
        )

    async def _send(self, delivery: Delivery) -> Delivery:
        sent_at = self._clock()
        status, answer, failure = await asyncio.to_thread(_post, self.url, delivery.headers, delivery.body)
        sent = Delivery(
            delivery.delivery_id,
            delivery.event,
            delivery.action,
            delivery.body,
            delivery.headers,
            sent_at,
            status,
            answer,
            failure,
        )
        self.deliveries.append(sent)
        return sent


def _post(url: str | None, headers: Mapping[str, str], body: bytes) -> tuple[int | None, Json, str | None]:
    if url is None:
        return None, None, "no webhook URL is set"
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or 80, timeout=DELIVERY_TIMEOUT_SECONDS
    )
    try:
        connection.request("POST", parts.path or "/", body, dict(headers))
        response = connection.getresponse()
        text = response.read(MAXIMUM_ANSWER_BYTES)
        status = response.status
    except (OSError, http.client.HTTPException) as error:
        return None, None, f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    try:
        return status, json.loads(text), None
    except ValueError:
        return status, text.decode(errors="replace"), None
