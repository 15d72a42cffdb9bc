"""One HTTP call to the stand-in and its answer, as plain values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

JSON_TYPE = "application/json; charset=utf-8"
DOCUMENTATION_URL = "https://docs.github.com/rest"
DEFAULT_PER_PAGE = 30
MAXIMUM_PER_PAGE = 100

Json = Any


@dataclass(frozen=True, slots=True)
class Call:
    """A request as it arrived; `template` is GitHub's own path template, "" for a path GitHub does not describe to us."""

    method: str
    path: str
    template: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Json] | None:
        """Return the body as a JSON object, `{}` for no body, None if it is anything else."""
        if not self.body:
            return {}
        try:
            value = json.loads(self.body)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with a JSON body; refusals are answers too."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Return the body as UTF-8 JSON."""
        return json.dumps(self.body, ensure_ascii=False).encode()


def refused(status: int, message: str, errors: Sequence[Json] = ()) -> Answer:
    """Return a refusal in GitHub's shape; `errors` are the details of a 422."""
    body: dict[str, Json] = {
        "message": message,
        "documentation_url": DOCUMENTATION_URL,
        "status": str(status),
    }
    if errors:
        body["errors"] = list(errors)
    return Answer(status, body)


def not_found() -> Answer:
    """Return GitHub's answer for what does not exist or may not be seen."""
    return refused(404, "Not Found")


def page(call: Call, url: str, items: Sequence[Json]) -> tuple[list[Json], dict[str, str]]:
    """Return the asked page of the items and the `link` header for it, as GitHub pages: from 1, 30 at a time, 100 at most."""
    per_page = min(max(_number(call.query.get("per_page"), DEFAULT_PER_PAGE), 1), MAXIMUM_PER_PAGE)
    number = max(_number(call.query.get("page"), 1), 1)
    last = max(-(-len(items) // per_page), 1)
    relations = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    shown = {"prev": number > 1, "next": number < last, "last": number < last, "first": number > 1}
    others = "".join(
        f"{name}={value}&" for name, value in call.query.items() if name not in ("page", "per_page")
    )
    links = [
        f'<{url}?{others}per_page={per_page}&page={target}>; rel="{relation}"'
        for relation, target in relations.items()
        if shown[relation]
    ]
    headers = {"link": ", ".join(links)} if links else {}
    return list(items[(number - 1) * per_page : number * per_page]), headers


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdigit() else default
