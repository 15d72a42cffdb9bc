"""Hold requests and answers against GitHub's own OpenAPI description."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from boardreadyops.standin.calls import Answer, Call

DESCRIPTION = Path(__file__).parent / "vendored" / "github-openapi.json"
GITHUB_HOST = "https://api.github.com"
MAXIMUM_MESSAGE_CHARACTERS = 1_000
ERROR_SCHEMAS = ("validation-error", "validation-error-simple", "basic-error")


def described() -> dict[str, Any]:
    """Return the vendored description, with error answers that GitHub gives but does not describe added as `4XX`.

    GitHub lists a 401, 403 or 422 for few operations only; every error answer of ours has to have one of its
    error shapes and at least a message.
    """
    description: dict[str, Any] = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    shapes = [{"$ref": f"#/components/schemas/{name}"} for name in ERROR_SCHEMAS]
    schema = {"type": "object", "required": ["message", "documentation_url"], "anyOf": shapes}
    error = {"description": "An error.", "content": {"application/json": {"schema": schema}}}
    for operations in description["paths"].values():
        for name, operation in operations.items():
            if name != "parameters":
                operation["responses"].setdefault("4XX", error)
    return description


@cache
def _openapi() -> Any:
    # Imported here: openapi-core costs half a second and some megabytes, which a stand-in without it should not pay.
    from openapi_core import OpenAPI

    return OpenAPI.from_dict(described())


class _Request:
    """A call as openapi-core wants to see it: addressed to GitHub, each path parameter one percent-encoded segment."""

    def __init__(self, call: Call) -> None:
        from openapi_core.datatypes import RequestParameters
        from werkzeug.datastructures import Headers, ImmutableMultiDict

        self.host_url = GITHUB_HOST
        self.method = call.method.lower()
        self.path = call.template
        for name, value in call.params.items():
            self.path = self.path.replace("{" + name + "}", quote(value, safe=""))
        self.content_type = call.headers.get("content-type", "application/json").split(";")[0].strip().lower()
        self.body = call.body or None
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(call.query),
            header=Headers(list(call.headers.items())),
            cookie=ImmutableMultiDict(),
        )


class _Response:
    def __init__(self, answer: Answer) -> None:
        from werkzeug.datastructures import Headers

        self.data = answer.encoded()
        self.status_code = answer.status
        self.content_type = "application/json"
        self.headers = Headers(list(answer.headers.items()))


def request_errors(call: Call) -> list[str]:
    """Return what GitHub's description forbids in a request; 5-12 ms."""
    return [_told(error) for error in _openapi().iter_request_errors(_Request(call))]


def answer_errors(call: Call, answer: Answer) -> list[str]:
    """Return what GitHub's description forbids in an answer to that request; 5-12 ms."""
    return [_told(error) for error in _openapi().iter_response_errors(_Request(call), _Response(answer))]


def _told(error: Exception) -> str:
    return "; ".join(dict.fromkeys(_messages(error)))[:MAXIMUM_MESSAGE_CHARACTERS]


def _messages(error: BaseException) -> Iterator[str]:
    # openapi-core wraps the finding several times and repeats the whole value each time; the innermost words say what.
    details = list(getattr(error, "schema_errors", ()))
    if details:
        yield from (f"at {detail.json_path}: {detail.message}" for detail in details)
        return
    yield str(error) if error.__cause__ is None else type(error).__name__
    if error.__cause__ is not None:
        yield from _messages(error.__cause__)
