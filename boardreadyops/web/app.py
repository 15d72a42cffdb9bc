"""The application: routes, error answers, and the headers that every answer bears."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from boardreadyops import __version__
from boardreadyops.db.pool import DatabaseUnavailable
from boardreadyops.runner.protocol import API_PREFIX as RUNNER_PREFIX
from boardreadyops.web import api, assets, dashboard, health, hooks, runner_api
from boardreadyops.web.bodies import MAX_LARGE_BODIES
from boardreadyops.web.problems import Problem, problem_of
from boardreadyops.web.waiting import WorkSignal
from boardreadyops.web.wiring import WebServices

__all__ = ["WebServices", "WorkSignal", "create_app"]

# Everything comes from here, nothing is inline, nobody frames us, nobody learns where a link was followed from.
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MACHINE_PREFIXES = (api.API_PREFIX, RUNNER_PREFIX, "/webhooks/", "/static/", "/healthz", "/readyz")


def create_app(services: WebServices) -> FastAPI:
    """The web application over these services; it owns none of them."""
    app = FastAPI(
        title="BoardReadyOps",
        summary="Is this board ready to fabricate?",
        version=__version__,
        openapi_url=f"{api.API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.services = services
    app.state.large_bodies = asyncio.Semaphore(MAX_LARGE_BODIES)
    for module in (hooks, runner_api, api, health, assets, dashboard):
        app.include_router(module.router)
    expected = (Problem, DatabaseUnavailable, RequestValidationError, HTTPException, ClientDisconnect)
    for kind in (*expected, Exception):
        app.add_exception_handler(kind, _answer_error)
    app.add_middleware(_SecurityHeaders)
    return app


async def _answer_error(request: Request, error: Exception) -> Response:
    """A problem document for machines, a page for people."""
    problem = problem_of(error)
    if request.url.path.startswith(_MACHINE_PREFIXES):
        answer = problem.response()
    else:
        answer = _error_page(request, problem)
    answer.headers.update(SECURITY_HEADERS)  # the answer to an unexpected error passes by the middleware
    return answer


def _error_page(request: Request, problem: Problem) -> Response:
    services: WebServices = request.app.state.services
    has_token = services.settings.operator_token is not None
    answer = dashboard.page(
        "problem.html", {"problem": problem, "has_token": has_token}, status=problem.status
    )
    answer.headers.update(problem.headers)
    if problem.status == 401 and has_token:
        answer.headers["WWW-Authenticate"] = 'Basic realm="BoardReadyOps", charset="UTF-8"'
    return answer


class _SecurityHeaders:
    """Adds the headers to every answer, streams included. HEAD is a GET whose body the server does not send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        await self._app(asked, receive, send_with_headers)
