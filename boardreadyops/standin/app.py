"""The stand-in's HTTP face: routes, authorisation, validation, faults."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from boardreadyops.standin import git_http, validation
from boardreadyops.standin.calls import JSON_TYPE, Answer, Call, not_found, page, refused
from boardreadyops.standin.checks import Checks
from boardreadyops.standin.faults import Fault, Faults
from boardreadyops.standin.pages import POLICY, check_run_page
from boardreadyops.standin.shapes import Shapes
from boardreadyops.standin.state import Repository, World
from boardreadyops.standin.tokens import TokenDesk, basic_password, bearer

MAXIMUM_BODY_BYTES = 5_000_000
MAXIMUM_RECORDS = 10_000
RATE_LIMIT_PER_HOUR = 5_000
ALL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

Kind = Literal["request", "answer", "unknown_path"]
Execution = Callable[[], Answer]
Endpoint = Callable[[Call], Answer | Execution]
"""Answers a refusal at once, or what to execute once the request itself is found good: GitHub, too, asks who first."""
Handler = Callable[[Call], Answer]
OnRepository = Callable[[Call, Repository], Answer]


@dataclass(frozen=True, slots=True)
class Violation:
    """Something GitHub's description forbids: a request, an answer of the stand-in itself, or a path it does not know."""

    kind: Kind
    method: str
    path: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Served:
    """One request that was served, and with what status; 0 for an answer that was dropped on order."""

    method: str
    path: str
    status: int
    arrived_at: datetime


@dataclass(slots=True)
class Front:
    """Takes every request: faults first, then GitHub's description, then who may, then what happens."""

    world: World
    shapes: Shapes
    tokens: TokenDesk
    checks: Checks
    faults: Faults
    validate: bool
    violations: list[Violation] = field(default_factory=list)
    served: list[Served] = field(default_factory=list)

    def application(self) -> Starlette:
        """Return the ASGI application."""
        repository = "/repos/{owner}/{repo}"
        run = repository + "/check-runs/{check_run_id}"
        write, read = ("checks", "write"), ("checks", "read")
        routes = [
            self._route("GET", "/app", self._as_app(self._app)),
            self._route("GET", "/app/installations/{installation_id}", self._as_app(self._installation)),
            self._route(
                "POST", "/app/installations/{installation_id}/access_tokens", self._as_app(self._mint)
            ),
            self._route("GET", repository, self._on(("metadata", "read"), self._repository)),
            self._route("POST", repository + "/check-runs", self._on(write, self._create_check_run)),
            self._route("GET", run, self._on(read, self.checks.get)),
            self._route("PATCH", run, self._on(write, self._update_check_run)),
            self._route("GET", run + "/annotations", self._on(read, self.checks.annotations)),
            self._route(
                "GET", repository + "/commits/{ref}/check-runs", self._on(read, self.checks.list_for_ref)
            ),
            self._route("GET", repository + "/pulls", self._on(("pull_requests", "read"), self._pulls)),
            self._route(
                "GET", repository + "/pulls/{pull_number}", self._on(("pull_requests", "read"), self._pull)
            ),
            self._route("GET", repository + "/git/ref/{ref}", self._on(("contents", "read"), self._ref)),
            Route("/{owner}/{name}.git/{service:path}", self._git, methods=["GET", "POST"]),
            Route("/{owner}/{name}/runs/{check_run_id:int}", self._page, methods=["GET"]),
            Route("/favicon.ico", self._no_icon, methods=["GET"]),
            Route("/{rest:path}", self._unknown, methods=ALL_METHODS),
        ]
        return Starlette(routes=routes)

    def _route(self, method: str, template: str, endpoint: Endpoint) -> Route:
        async def respond(request: Request) -> Response:
            return await self._respond(request, template, endpoint)

        # GitHub's {ref} holds slashes, which a plain route parameter would not; its ids and numbers are integers.
        path = re.sub(r"\{(\w+_id|pull_number)\}", r"{\1:int}", template.replace("{ref}", "{ref:path}"))
        return Route(path, respond, methods=[method])

    async def _respond(self, request: Request, template: str, endpoint: Endpoint) -> Response:
        arrived_at = self.world.clock()
        body = await _read(request, MAXIMUM_BODY_BYTES)
        if body is None:
            return self._finish(request, arrived_at, refused(413, "Request body is too large"))
        params = {name: str(value) for name, value in request.path_params.items()}
        call = Call(
            request.method,
            request.url.path,
            template,
            params,
            dict(request.query_params),
            request.headers,
            body,
        )
        fault = self.faults.take(call.method, call.path)
        if fault is not None and fault.answer is not None:
            return self._finish(request, arrived_at, fault.answer)
        if fault is not None and fault.kind == "hold":
            await fault.release.wait()
        answer = self._answer(call, endpoint)
        if fault is not None and fault.kind == "drop":
            return await self._drop(request, arrived_at)
        return self._finish(request, arrived_at, answer)

    def _answer(self, call: Call, endpoint: Endpoint) -> Answer:
        if call.json() is None:
            return refused(400, "Problems parsing JSON")
        execution = endpoint(call)
        if not isinstance(execution, Answer):
            problems = validation.request_errors(call) if self.validate else []
            if problems:
                self._record("request", call.method, call.path, problems)
                return refused(422, "Invalid request.\n\n" + "\n".join(problems))
        answer = execution if isinstance(execution, Answer) else execution()
        problems = validation.answer_errors(call, answer) if self.validate else []
        if problems:
            self._record("answer", call.method, call.path, problems)
            return refused(500, "The stand-in's own answer is not GitHub's: " + "; ".join(problems))
        return answer

    def _record(self, kind: Kind, method: str, path: str, problems: list[str]) -> None:
        if len(self.violations) < MAXIMUM_RECORDS:
            self.violations.append(Violation(kind, method, path, tuple(problems)))

    def _finish(self, request: Request, arrived_at: datetime, answer: Answer) -> Response:
        self._serve_record(request, arrived_at, answer.status)
        reset = int(arrived_at.timestamp()) // 3_600 * 3_600 + 3_600
        headers = {
            "content-type": JSON_TYPE,
            "x-github-media-type": "github.v3; format=json",
            "x-ratelimit-limit": str(RATE_LIMIT_PER_HOUR),
            "x-ratelimit-remaining": str(RATE_LIMIT_PER_HOUR - 1),
            "x-ratelimit-reset": str(reset),
            "x-ratelimit-resource": "core",
            "x-ratelimit-used": "1",
            **{name.lower(): value for name, value in answer.headers.items()},
        }
        return Response(answer.encoded(), answer.status, headers)

    def _serve_record(self, request: Request, arrived_at: datetime, status: int) -> None:
        if len(self.served) < MAXIMUM_RECORDS:
            self.served.append(Served(request.method, request.url.path, status, arrived_at))

    async def _drop(self, request: Request, arrived_at: datetime) -> Response:
        self._serve_record(request, arrived_at, 0)
        request.scope["state"]["transport"].abort()
        while (await request.receive())["type"] != "http.disconnect":
            continue
        return Response()

    def _as_app(self, handler: Handler) -> Endpoint:
        def guarded(call: Call) -> Answer | Execution:
            refusal = self.tokens.app_refusal(call)
            return partial(handler, call) if refusal is None else refusal

        return guarded

    def _on(self, need: tuple[str, str], handler: OnRepository) -> Endpoint:
        def guarded(call: Call) -> Answer | Execution:
            repository = self.world.repository(call.params["owner"], call.params["repo"])
            token = bearer(call.headers.get("authorization", ""))
            refusal = self.tokens.repository_refusal(token, repository, need)
            if refusal is not None:
                return refusal
            return not_found() if repository is None else partial(handler, call, repository)

        return guarded

    def _app(self, call: Call) -> Answer:
        return Answer(200, self.shapes.app(self.world.app_id))

    def _installation(self, call: Call) -> Answer:
        found = self.world.installation(int(call.params["installation_id"]))
        return not_found() if found is None else Answer(200, self.shapes.installation(found))

    def _mint(self, call: Call) -> Answer:
        found = self.world.installation(int(call.params["installation_id"]))
        return not_found() if found is None else self.tokens.mint(found, call.json() or {})

    def _create_check_run(self, call: Call, repository: Repository) -> Answer:
        return self.checks.create(repository, call.json() or {}, self.world.app_id)

    def _update_check_run(self, call: Call, repository: Repository) -> Answer:
        return self.checks.update(call, repository, call.json() or {})

    def _repository(self, call: Call, repository: Repository) -> Answer:
        return Answer(200, self.shapes.repository(repository))

    def _pull(self, call: Call, repository: Repository) -> Answer:
        pull = repository.pulls.get(int(call.params["pull_number"]))
        return not_found() if pull is None else Answer(200, self.shapes.pull_request(repository, pull))

    def _pulls(self, call: Call, repository: Repository) -> Answer:
        wanted, query = [], call.query
        for pull in sorted(repository.pulls.values(), key=lambda one: one.number, reverse=True):
            state = query.get("state", "open") in ("all", pull.state)
            head = query.get("head") in (None, f"{repository.owner.login}:{pull.head_ref}")
            if state and head and query.get("base") in (None, pull.base_ref):
                wanted.append(self.shapes.pull_request(repository, pull))
        items, headers = page(call, f"{self.shapes.origin}{call.path}", wanted)
        return Answer(200, items, headers)

    def _ref(self, call: Call, repository: Repository) -> Answer:
        ref = f"refs/{call.params['ref']}"
        sha = repository.refs.get(ref)
        if sha is None:
            return not_found()
        url = f"{self.shapes.origin}/repos/{repository.full_name}/git"
        target = {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"}
        return Answer(200, {"ref": ref, "node_id": f"REF_{ref}", "url": f"{url}/{ref}", "object": target})

    async def _git(self, request: Request) -> Response:
        arrived_at = self.world.clock()
        owner, name = request.path_params["owner"], request.path_params["name"]
        service, query = request.path_params["service"], request.url.query
        fault = self.faults.take(request.method, request.url.path)
        refusal = await self._git_fault(request, fault)
        if refusal is not None:
            return refusal
        repository = self.world.repository(owner, name)
        authorization = request.headers.get("authorization", "")
        token = basic_password(authorization) or bearer(authorization)
        answer = self.tokens.repository_refusal(token, repository, ("contents", "read"))
        if answer is None and not git_http.permitted(request.method, service, query):
            answer = refused(403, "Only smart fetches are served here")
        body = await _read(request, git_http.MAXIMUM_REQUEST_BYTES)
        if answer is None and body is None:
            answer = refused(413, "Request body is too large")
        if answer is not None or repository is None or body is None:
            status = 404 if answer is None else answer.status
            self._serve_record(request, arrived_at, status)
            headers = git_http.CHALLENGE if status == 401 else {}
            return Response("" if answer is None else answer.body["message"] + "\n", status, headers)
        status, headers, chunks = await git_http.serve(
            repository.folder, service, method=request.method, query=query, headers=request.headers, body=body
        )
        self._serve_record(request, arrived_at, status)
        return StreamingResponse(chunks, status, headers)

    async def _git_fault(self, request: Request, fault: Fault | None) -> Response | None:
        if fault is None:
            return None
        if fault.answer is not None:
            return self._finish(request, self.world.clock(), fault.answer)
        if fault.kind == "drop":
            await request.body()
            return await self._drop(request, self.world.clock())
        await fault.release.wait()
        return None

    async def _page(self, request: Request) -> Response:
        check = self.world.check_runs.get(request.path_params["check_run_id"])
        wanted = f"{request.path_params['owner']}/{request.path_params['name']}".lower()
        if check is None or check.repository.full_name.lower() != wanted:
            return Response("Not Found\n", 404)
        return HTMLResponse(check_run_page(check), headers={"content-security-policy": POLICY})

    async def _no_icon(self, request: Request) -> Response:
        return Response(status_code=204)

    async def _unknown(self, request: Request) -> Response:
        self._record("unknown_path", request.method, request.url.path, ["not a path the stand-in has"])
        return self._finish(request, self.world.clock(), not_found())


async def _read(request: Request, limit_bytes: int) -> bytes | None:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit_bytes:
            return None
    return bytes(body)
