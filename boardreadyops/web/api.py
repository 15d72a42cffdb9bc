"""`/api/v1`: runs and their history as JSON, for the reader's tenants."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AwareDatetime, BaseModel

from boardreadyops.db.pages import (
    MAX_TRANSITIONS,
    Position,
    RunFacts,
    RunFilter,
    find_run,
    list_runs,
    reading,
    transitions,
)
from boardreadyops.domain.lifecycle import RunStatus
from boardreadyops.domain.timeline import freshness
from boardreadyops.web.etags import json_answer, to_json
from boardreadyops.web.problems import Problem
from boardreadyops.web.sessions import Reader, Services

API_PREFIX = "/api/v1"
MAX_PAGE_ROWS = 100
DEFAULT_PAGE_ROWS = 50
MAX_FILTER_CHARACTERS = 500
MAX_CURSOR_CHARACTERS = 300
_REPOSITORY = r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,200}$"

router = APIRouter(prefix=API_PREFIX)


class Run(BaseModel):
    """A release run: whether one commit of one ref is ready. Times are UTC."""

    id: UUID
    repository: str
    ref: str
    pull_request_number: int | None
    commit_sha: str
    base_sha: str | None
    status: RunStatus
    version: int
    decision: Literal["pass", "fail", "error"] | None
    reason_code: str | None
    retry_id: UUID
    retry_number: int
    execution_attempt_id: UUID | None
    superseded_by: UUID | None
    trust_mode: Literal["trusted", "fork"]
    approval: Literal["not_needed", "waiting", "approved"]
    due_at: datetime | None
    created_at: datetime
    queued_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    freshness: Literal["current", "stale", "terminal"]


class RunPage(BaseModel):
    """Runs from newest to oldest, and where to go on; a cursor is null at the end."""

    items: list[Run]
    next_cursor: str | None
    prev_cursor: str | None


class TransitionRow(BaseModel):
    """One applied change of a run or of one of its attempts."""

    entity_type: Literal["release_run", "execution_attempt"]
    execution_attempt_id: UUID | None
    from_status: str
    to_status: str
    from_version: int
    to_version: int
    reason_code: str
    occurred_at: datetime


class TransitionPage(BaseModel):
    """The newest transitions, newest first. `truncated` tells that there are older ones, which are not shown."""

    items: list[TransitionRow]
    next_cursor: None
    prev_cursor: None
    truncated: bool


Filter = Annotated[str | None, Query(min_length=1, max_length=MAX_FILTER_CHARACTERS)]


@router.get("/runs", response_model=RunPage)
async def get_runs(
    request: Request,
    services: Services,
    tenants: Reader,
    repository: Annotated[str | None, Query(pattern=_REPOSITORY)] = None,
    ref: Filter = None,
    pull_request: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    sha: Annotated[str | None, Query(pattern=r"^[0-9a-fA-F]{4,64}$")] = None,
    status: RunStatus | None = None,
    decision: Literal["pass", "fail", "error"] | None = None,
    since: AwareDatetime | None = None,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE_ROWS)] = DEFAULT_PAGE_ROWS,
) -> Response:
    """List runs, newest first. A cursor goes on from where a list ended, whatever has arrived since."""
    wanted = RunFilter(
        repository=repository,
        ref=ref,
        pull_request=pull_request,
        sha=None if sha is None else sha.lower(),
        status=status,
        decision=decision,
        since=since,
    )
    position = None if cursor is None else position_of(cursor)
    async with reading(services.reader_database, tenants) as connection:
        found = await list_runs(connection, wanted, position=position, limit=limit)
    now = datetime.now(UTC)
    document = {
        "items": [run_document(run, now) for run in found.runs],
        "next_cursor": None if found.older is None else cursor_of(found.older),
        "prev_cursor": None if found.newer is None else cursor_of(found.newer),
    }
    return json_answer(request, document)


@router.get("/runs/{run_id}", response_model=Run)
async def get_run(
    request: Request, services: Services, tenants: Reader, run_id: Annotated[UUID, Path()]
) -> Response:
    """One run. Another tenant's is not found, like one that never was."""
    async with reading(services.reader_database, tenants) as connection:
        run = await find_run(connection, run_id)
    if run is None:
        raise _no_run()
    return json_answer(request, run_document(run, datetime.now(UTC)))


@router.get("/runs/{run_id}/transitions", response_model=TransitionPage)
async def get_transitions(
    request: Request,
    services: Services,
    tenants: Reader,
    run_id: Annotated[UUID, Path()],
    limit: Annotated[int, Query(ge=1, le=MAX_TRANSITIONS)] = MAX_TRANSITIONS,
) -> Response:
    """The lifecycle of a run and its attempts, newest first."""
    async with reading(services.reader_database, tenants) as connection:
        if await find_run(connection, run_id) is None:
            raise _no_run()
        events, truncated = await transitions(connection, run_id, limit=limit)
    items = [asdict(event) for event in events]
    ends = {"next_cursor": None, "prev_cursor": None}
    return json_answer(request, {"items": items, **ends, "truncated": truncated})


def run_document(run: RunFacts, now: datetime) -> Mapping[str, object]:
    """A run as the API shows it."""
    facts = {name: getattr(run, name) for name in Run.model_fields if hasattr(run, name)}
    facts["repository"] = f"{run.repository_owner}/{run.repository_name}"
    facts["freshness"] = freshness(run.status, run.heartbeat_at or run.updated_at, now)
    return {name: facts[name] for name in Run.model_fields}


def cursor_of(position: Position) -> str:
    """A position as an opaque text."""
    text = to_json((position.newer, position.created_at, position.id))
    return base64.urlsafe_b64encode(text).decode("ascii").rstrip("=")


def position_of(cursor: str) -> Position:
    """The position in a cursor of ours; Problem 422 for any other text."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        direction, created_at, run_id = orjson.loads(text)
        moment = datetime.fromisoformat(created_at)
        if direction not in ("newer", "older") or moment.tzinfo is None:
            raise ValueError(direction)
        return Position(moment, UUID(run_id), direction)
    except (binascii.Error, ValueError, TypeError, AttributeError):
        raise Problem(422, "invalid_request", "cursor: is none that this API gave out") from None


def _no_run() -> Problem:
    return Problem(404, "not_found", "There is no such run.")
