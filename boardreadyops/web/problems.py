"""Errors as RFC 9457 problems: `application/problem+json` with a stable `code`, never a stack trace."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import orjson
from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from boardreadyops.db.pool import DatabaseUnavailable
from boardreadyops.domain.plain_text import one_line

RETRY_AFTER_SECONDS = 5
MAX_DETAIL_CHARACTERS = 500


class Problem(Exception):
    """A request that cannot be answered as asked; raised in handlers, answered as a problem document."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The problem document."""
        document = {
            "type": f"urn:boardreadyops:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": one_line(self.detail, limit_characters=MAX_DETAIL_CHARACTERS),
            "code": self.code,
        }
        headers = {"Cache-Control": "no-store", **self.headers}
        return Response(orjson.dumps(document), self.status, headers, "application/problem+json")


def database_away() -> Problem:
    """The database cannot be used now: nothing was changed, try again."""
    return Problem(
        503,
        "database_unavailable",
        "The database cannot be used now. Nothing was changed; try again.",
        {"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def problem_of(error: Exception) -> Problem:
    """Every error as a problem; of an unexpected one nothing is told but that it happened."""
    match error:
        case Problem():
            return error
        case DatabaseUnavailable():
            return database_away()
        case RequestValidationError():
            return _invalid(error)
        case ClientDisconnect():
            return Problem(400, "incomplete_request", "The body did not come to its end.")
        case HTTPException():
            code = HTTPStatus(error.status_code).name.lower()
            return Problem(error.status_code, code, str(error.detail), error.headers)
        case _:
            return Problem(500, "internal_error", "Something failed here; it is in the log.")


def _invalid(error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return Problem(422, "invalid_request", f"{place}: {first['msg']}" if place else str(first["msg"]))
