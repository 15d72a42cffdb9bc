"""What pages and the reading API may know: one read-only transaction, one tenant scope, no lifecycle writer in reach."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.statements import statement
from boardreadyops.domain.timeline import Transition

# Installation ids, or every tenant: an operator's own view.
Tenants: TypeAlias = frozenset[int] | Literal["*"]

MAX_TRANSITIONS = 100  # shown of one run, newest first
MAX_ATTEMPTS = 100
MAX_PUBLICATIONS = 20
MAX_OTHER_RUNS = 10  # other commits of the same ref beside a run


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run with all that its one-line answer needs. Times are UTC, in `GET /runs` and on pages alike."""

    id: UUID
    repository_id: int
    repository_owner: str
    repository_name: str
    ref: str
    pull_request_number: int | None
    commit_sha: str
    base_sha: str | None
    status: str
    version: int
    decision: str | None
    reason_code: str | None
    execution_attempt_id: UUID | None
    trust_mode: str
    approval: str
    retry_id: UUID
    retry_number: int
    superseded_by: UUID | None
    cancelled_by: str | None
    due_at: datetime | None
    created_at: datetime
    queued_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    needs: list[str]
    stage: str | None
    progress: int | None
    message: str | None
    attempt_number: int | None
    runner_name: str | None
    heartbeat_at: datetime | None
    summary: str | None
    error_count: int | None
    warning_count: int | None
    successor_sha: str | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a run, with the runner that had it."""

    id: UUID
    number: int
    retry_id: UUID
    status: str
    version: int
    inferred: bool
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    lease_state: str | None
    stage: str | None
    runner_name: str | None
    heartbeat_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownPublication:
    """Whether GitHub shows the newest state of one asking."""

    retry_number: int
    ordinal: int
    check_name: str
    check_run_id: int | None
    published: bool
    send_count: int
    closed_code: str | None
    acked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs to list; None lets everything through. Names compare without case, `sha` is a prefix."""

    repository: str | None = None
    ref: str | None = None
    pull_request: int | None = None
    sha: str | None = None
    status: str | None = None
    decision: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two runs of a list; `newer` reads from there towards the newest."""

    created_at: datetime
    id: UUID
    newer: Literal["newer", "older"]


@dataclass(frozen=True, slots=True)
class RunList:
    """One page of a list, newest first, with the places to go on from; None where nothing more is known."""

    runs: tuple[RunFacts, ...]
    older: Position | None
    newer: Position | None


@asynccontextmanager
async def reading(database: Database, tenants: Tenants) -> AsyncIterator[Connection]:
    """One consistent look, under row-level security, at the rows of these tenants. DatabaseUnavailable."""
    scope = tenants if isinstance(tenants, str) else ",".join(map(str, sorted(tenants)))
    async with (
        database.connection() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        await connection.fetchval(statement("page_tenants"), scope)
        yield connection


async def list_runs(
    connection: Connection, wanted: RunFilter, *, position: Position | None, limit: int
) -> RunList:
    """Up to `limit` runs, newest first, from a position on. Runs that arrive meanwhile shift nothing."""
    newer = position is not None and position.newer == "newer"
    name: Literal["page_run_ids_newer", "page_run_ids_older"] = (
        "page_run_ids_newer" if newer else "page_run_ids_older"
    )
    rows = await connection.fetch(
        statement(name),
        wanted.repository,
        wanted.ref,
        wanted.pull_request,
        wanted.sha,
        wanted.status,
        wanted.decision,
        wanted.since,
        None if position is None else position.created_at,
        None if position is None else position.id,
        limit + 1,
    )
    ids = [row["id"] for row in rows[:limit]]
    more = len(rows) > limit
    runs = await runs_by_id(connection, ids[::-1] if newer else ids)
    if not runs:
        return RunList((), None, None)
    has_older, has_newer = (True, more) if newer else (more, position is not None)
    return RunList(
        runs,
        Position(runs[-1].created_at, runs[-1].id, "older") if has_older else None,
        Position(runs[0].created_at, runs[0].id, "newer") if has_newer else None,
    )


async def runs_by_id(connection: Connection, ids: list[UUID]) -> tuple[RunFacts, ...]:
    """The visible ones of these runs, in the order of `ids`."""
    rows = {row["id"]: row for row in await connection.fetch(statement("page_runs"), ids)}
    return tuple(RunFacts(**dict(rows[run_id])) for run_id in ids if run_id in rows)


async def find_run(connection: Connection, run_id: UUID) -> RunFacts | None:
    """A run; None when there is none or when it is another tenant's, which look the same."""
    found = await runs_by_id(connection, [run_id])
    return found[0] if found else None


async def other_runs_of_ref(connection: Connection, run: RunFacts) -> tuple[RunFacts, ...]:
    """The newest other commits of the same ref."""
    rows = await connection.fetch(
        statement("page_run_ids_of_ref"), run.repository_id, run.ref, run.id, MAX_OTHER_RUNS
    )
    return await runs_by_id(connection, [row["id"] for row in rows])


async def result_details(connection: Connection, run: RunFacts) -> Mapping[str, object]:
    """Findings, checks and versions of the current attempt's result; empty without one."""
    if run.execution_attempt_id is None:
        return {}
    details = await connection.fetchval(statement("page_result_details"), run.execution_attempt_id)
    return details if isinstance(details, dict) else {}


async def attempts(connection: Connection, run_id: UUID) -> tuple[Attempt, ...]:
    """The newest attempts of a run, newest first."""
    rows = await connection.fetch(statement("page_attempts"), run_id, MAX_ATTEMPTS)
    return tuple(Attempt(**dict(row)) for row in rows)


async def transitions(
    connection: Connection, run_id: UUID, *, limit: int = MAX_TRANSITIONS
) -> tuple[tuple[Transition, ...], bool]:
    """The newest lifecycle events of a run, newest first, and whether older ones are left out."""
    rows = await connection.fetch(statement("page_transitions"), run_id, limit + 1)
    return tuple(Transition(**dict(row)) for row in rows[:limit]), len(rows) > limit


async def publications(connection: Connection, run_id: UUID) -> tuple[ShownPublication, ...]:
    """What GitHub was told about a run, newest asking first."""
    rows = await connection.fetch(statement("page_publications"), run_id, MAX_PUBLICATIONS)
    return tuple(ShownPublication(**dict(row)) for row in rows)
