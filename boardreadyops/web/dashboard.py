"""The pages. Each is complete without script; a fragment of the same model keeps an open one fresh."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from boardreadyops.config import Settings
from boardreadyops.db.pages import RunFilter, RunList, Tenants, list_runs, reading
from boardreadyops.domain.lifecycle import RunStatus
from boardreadyops.domain.plain_text import counted, short_sha
from boardreadyops.web import wording
from boardreadyops.web.api import MAX_CURSOR_CHARACTERS, cursor_of, position_of
from boardreadyops.web.etags import etag_of, is_known
from boardreadyops.web.problems import Problem
from boardreadyops.web.run_view import (
    RunView,
    bar_of,
    one_line_of,
    read_run_view,
    row_of,
    subject_of,
    title_of,
)
from boardreadyops.web.sessions import Reader, Services
from boardreadyops.web.wiring import WebServices

OVERVIEW_ROWS = 50

router = APIRouter(include_in_schema=False)

Repository = Annotated[str | None, Query(max_length=300)]
PullRequest = Annotated[int | None, Query(ge=1, lt=2**31)]
Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)]


@router.get("/")
async def overview(
    services: Services,
    tenants: Reader,
    repository: Repository = None,
    pull_request: PullRequest = None,
    status: RunStatus | None = None,
    cursor: Cursor = None,
) -> Response:
    """The newest runs with their answers."""
    wanted = RunFilter(repository=repository, pull_request=pull_request, status=status)
    facts = await _overview_facts(services, tenants, wanted, cursor)
    return page("overview.html", facts)


@router.get("/live")
async def overview_fragment(
    request: Request,
    services: Services,
    tenants: Reader,
    repository: Repository = None,
    pull_request: PullRequest = None,
    status: RunStatus | None = None,
    cursor: Cursor = None,
) -> Response:
    """The part of the overview that changes, or 304."""
    wanted = RunFilter(repository=repository, pull_request=pull_request, status=status)
    facts = await _overview_facts(services, tenants, wanted, cursor)
    return _fragment(request, "overview_rows.html", facts)


@router.get("/runs/{run_id}")
async def run_page(services: Services, tenants: Reader, run_id: str) -> Response:
    """One run: the answer first, then why, then the next step, then all the rest."""
    return page("run.html", await _run_facts(services, tenants, run_id))


@router.get("/runs/{run_id}/live")
async def run_fragment(request: Request, services: Services, tenants: Reader, run_id: str) -> Response:
    """The part of a run page that changes, or 304."""
    return _fragment(request, "run_body.html", await _run_facts(services, tenants, run_id))


async def _overview_facts(
    services: WebServices, tenants: Tenants, wanted: RunFilter, cursor: str | None
) -> dict[str, object]:
    position = None if cursor is None else position_of(cursor)
    async with reading(services.reader_database, tenants) as connection:
        found = await list_runs(connection, wanted, position=position, limit=OVERVIEW_ROWS)
    query = {"repository": wanted.repository, "pull_request": wanted.pull_request, "status": wanted.status}
    live = _query({**query, "cursor": cursor})
    return {
        "now": _now(),
        "rows": [row_of(run) for run in found.runs],
        "wanted": wanted,
        "filtered": any(query.values()),
        "live_url": f"/live{live}",
        "older_url": _link(found, "older", query),
        "newer_url": _link(found, "newer", query),
        "etag": etag_of(found, query),
    }


async def _run_facts(services: WebServices, tenants: Tenants, run_id: str) -> dict[str, object]:
    now = _now()
    view = await _run_view(services, tenants, run_id, now)
    if view is None:
        raise Problem(404, "not_found", "There is no such run.")
    return {
        "now": now,
        "view": view,
        "run": view.run,
        "bar": bar_of(view.segments, now),
        "title": title_of(view),
        "github_url": _github_url(services.settings, view),
        "live_url": f"/runs/{view.run.id}/live",
        "etag": view.etag,
    }


async def _run_view(services: WebServices, tenants: Tenants, run_id: str, now: datetime) -> RunView | None:
    try:
        known_id = UUID(run_id)
    except ValueError:
        return None
    async with reading(services.reader_database, tenants) as connection:
        return await read_run_view(connection, known_id, now)


def page(template: str, facts: Mapping[str, object], *, status: int = 200) -> Response:
    """A whole page."""
    text = _templates().get_template(template).render(facts)
    return Response(text, status, {"Cache-Control": "no-store"}, "text/html")


def _fragment(request: Request, template: str, facts: Mapping[str, object]) -> Response:
    headers = {"ETag": str(facts["etag"]), "Cache-Control": "private, no-cache"}
    if is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(_templates().get_template(template).render(facts), 200, headers, "text/html")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("boardreadyops.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"line": one_line_of, "short": short_sha, "subject": subject_of}
    environment.filters |= {"exact": wording.exact, "iso": wording.iso, "lasting": wording.lasting}
    environment.globals |= {"counted": counted, "ago": wording.ago, "state_words": wording.STATE_WORDS}
    return environment


def _github_url(settings: Settings, view: RunView) -> str:
    return f"{settings.github_web_url}/{view.run.repository_owner}/{view.run.repository_name}"


def _link(found: RunList, direction: str, query: Mapping[str, object]) -> str | None:
    position = found.older if direction == "older" else found.newer
    return None if position is None else "/" + _query({**query, "cursor": cursor_of(position)})


def _query(query: Mapping[str, object]) -> str:
    given = {name: str(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _now() -> datetime:
    return datetime.now(UTC)
