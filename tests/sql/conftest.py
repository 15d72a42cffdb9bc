"""A small world for the guarded functions: one installation, one repository, and the moves that tests make in it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.leases import LeaseGrant, claim_runner_lease, lease_grant
from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.outbox import ClaimedEffect, claim_outbox
from boardreadyops.db.pool import Connection, Database, Record
from boardreadyops.db.publications import acknowledge_publication, claim_publications, record_check_run
from boardreadyops.db.results import ReportedResult, ResultAnswer, record_runner_result
from boardreadyops.db.runners import issue_runner_enrollment, register_runner
from boardreadyops.db.runs import Closed, Enqueued, close_ref, enqueue_release_run
from boardreadyops.domain.identity import Observation, RepositoryFacts

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
SHA_A, SHA_B, SHA_C = "a" * 40, "b" * 40, "c" * 40


def observation(head_sha: str = SHA_A, *, minute: int = 0, number: int = 1) -> Observation:
    """An open pull request of the test repository, seen `minute` minutes after noon."""
    return Observation(
        installation_id=1,
        repository_id=10,
        ref=f"refs/pull/{number}/head",
        pull_request_number=number,
        open=True,
        draft=False,
        head_sha=head_sha,
        base_ref="main",
        base_sha="f" * 40,
        trust_mode="trusted",
        observed_at=NOON + timedelta(minutes=minute),
    )


@dataclass(frozen=True, slots=True)
class World:
    """The moves of a test, each in its own transaction as the application's login makes them."""

    app: Database
    owner: Connection

    async def enqueue(self, seen: Observation, *, confirmed: int | None = None) -> Enqueued:
        async with self.app.transaction() as connection:
            return await enqueue_release_run(connection, seen, confirmed_observation=confirmed)

    async def opened(self, head_sha: str = SHA_A, *, minute: int = 0, number: int = 1) -> UUID:
        enqueued = await self.enqueue(observation(head_sha, minute=minute, number=number))
        assert enqueued.release_run_id is not None
        return enqueued.release_run_id

    async def close(self, seen: Observation) -> Closed:
        async with self.app.transaction() as connection:
            return await close_ref(connection, replace(seen, open=False))

    async def runner(self, *, installation_id: int | None = None, name: str = "bench-1") -> UUID:
        enrolment, token = hashlib.sha256(uuid4().bytes).digest(), hashlib.sha256(uuid4().bytes).digest()
        async with self.app.transaction() as connection:
            issued = await issue_runner_enrollment(
                connection,
                installation_id=installation_id,
                repository_ids=None,
                name=name,
                token_digest=enrolment,
                ttl_seconds=900,
            )
            assert issued.outcome == "issued"
            answer = await register_runner(
                connection, enrollment_digest=enrolment, token_digest=token, name=name, runner_version="1"
            )
        assert answer.registration_id is not None
        return answer.registration_id

    async def claimed(self, registration_id: UUID | None = None) -> LeaseGrant:
        runner = registration_id or await self.runner()
        async with self.app.transaction() as connection:
            claim = await claim_runner_lease(
                connection, registration_id=runner, request_id=uuid4(), capabilities=()
            )
        assert claim.outcome == "created"
        assert claim.lease_id is not None
        async with self.app.connection() as connection:
            grant = await lease_grant(connection, claim.lease_id)
        assert grant is not None
        return grant

    async def report(
        self, grant: LeaseGrant, status: str = "completed", decision: str = "pass", *, body: bytes = b"{}"
    ) -> ResultAnswer:
        async with self.app.transaction() as connection:
            return await record_runner_result(
                connection,
                ReportedResult(
                    release_run_id=grant.release_run_id,
                    execution_attempt_id=grant.execution_attempt_id,
                    retry_id=grant.retry_id,
                    registration_id=grant.registration_id,
                    body_sha256=hashlib.sha256(body).digest(),
                    status=status,
                    decision=decision,
                    summary="",
                    error_count=0,
                    warning_count=0,
                    details={},
                ),
            )

    async def run(self, run_id: UUID) -> Record:
        row = await self.owner.fetchrow("SELECT * FROM release_runs WHERE id = $1", run_id)
        assert row is not None
        return row

    async def attempt(self, attempt_id: UUID) -> Record:
        row = await self.owner.fetchrow("SELECT * FROM release_run_attempts WHERE id = $1", attempt_id)
        assert row is not None
        return row

    async def publication(self, run_id: UUID, retry_number: int = 0) -> Record:
        row = await self.owner.fetchrow(
            "SELECT * FROM publications WHERE release_run_id = $1 AND retry_number = $2 ORDER BY ordinal DESC",
            run_id,
            retry_number,
        )
        assert row is not None
        return row

    async def count(self, table: str) -> int:
        counted: int = await self.owner.fetchval(f"SELECT count(*) FROM {table}")
        return counted

    async def history(self, run_id: UUID) -> list[tuple[str, str, str, str]]:
        rows = await self.owner.fetch(
            "SELECT entity_type, from_status, to_status, reason_code FROM release_run_transition_events"
            " WHERE release_run_id = $1 ORDER BY id",
            run_id,
        )
        return [tuple(row) for row in rows]

    async def call(self, function: str, *arguments: object) -> list[Record]:
        """A guarded function as the application's login, with a `p_now` or whatever else no program passes."""
        placeholders = ", ".join(f"${number}" for number in range(1, len(arguments) + 1))
        async with self.app.transaction() as connection:
            return await connection.fetch(
                f"SELECT * FROM boardreadyops_{function}({placeholders})", *arguments
            )

    async def answer(self, function: str, *arguments: object) -> str:
        """The outcome of such a call: the first column of its one row."""
        (row,) = await self.call(function, *arguments)
        outcome: str = row[0]
        return outcome

    async def execute_by(self, backend: str) -> None:
        """From now on the installation's new runs are executed by `runner` or `actions`."""
        await self.owner.execute("UPDATE installations SET execution_backend = $1", backend)

    async def published(self, *, first_check_run_id: int = 500) -> list[int]:
        """Everything due goes to GitHub, checks are created where there is none; the publications' ids."""
        sent: list[int] = []
        async with self.app.transaction() as connection:
            for row in await claim_publications(connection, limit=100, lease_seconds=30, doubt_seconds=60):
                check_run_id = row.check_run_id or first_check_run_id + len(sent)
                key = {"publication_id": row.publication_id, "generation": row.generation}
                assert await record_check_run(connection, check_run_id=check_run_id, **key) == "applied"
                assert await acknowledge_publication(connection, seq=row.seq, **key) == "applied"
                sent.append(row.publication_id)
        return sent

    async def effects(self) -> tuple[ClaimedEffect, ...]:
        """The due one-shot effects, claimed."""
        async with self.app.transaction() as connection:
            return await claim_outbox(connection, limit=100, lease_seconds=30)

    async def owed(self, kind: str) -> list[Record]:
        """The one-shot effects of a kind, settled or not."""
        return await self.owner.fetch("SELECT * FROM outbox WHERE kind = $1 ORDER BY id", kind)

    async def everything(self, *, but: tuple[str, ...] = ()) -> dict[str, list[Record]]:
        """Every row of every table, whichever there are, to show that a refused call wrote nothing."""
        return {
            table: await self.owner.fetch(f"SELECT * FROM {table} AS stored ORDER BY stored::text")
            for table in await table_names(self.owner)
            if table not in but
        }


async def table_names(owner: Connection) -> list[str]:
    """All tables, from the catalog, so that a new one cannot be forgotten."""
    rows = await owner.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        " ORDER BY relname"
    )
    return [row["relname"] for row in rows]


@pytest.fixture
async def world(app_database: Database, owner_connection: Connection) -> AsyncIterator[World]:
    async with app_database.transaction() as connection:
        await note_installation(connection, installation_id=1, account_login="acme", account_id=7)
        await put_repository(
            connection,
            1,
            RepositoryFacts(
                repository_id=10, owner="acme", name="power-board", private=True, default_branch="main"
            ),
            observed_at=NOON,
        )
    yield World(app_database, owner_connection)
    await assert_history_holds(owner_connection)


async def assert_history_holds(owner: Connection) -> None:
    """After every test: versions equal the number of events, chains are unbroken, hashes recompute, leases agree."""
    problems = await owner.fetch(
        """
        WITH entity AS (
            SELECT 'release_run' AS entity_type, id, status, version, event_hash FROM release_runs
            UNION ALL
            SELECT 'execution_attempt', id, status, version, event_hash FROM release_run_attempts
        ), event AS (
            SELECT *, CASE entity_type WHEN 'release_run' THEN release_run_id ELSE execution_attempt_id END AS entity_id,
                   lag(hash) OVER chain AS previous_hash, lag(to_status) OVER chain AS previous_status,
                   lag(occurred_at) OVER (PARTITION BY release_run_id ORDER BY id) AS previous_time,
                   row_number() OVER chain AS position
            FROM release_run_transition_events
            WINDOW chain AS (
                PARTITION BY entity_type, CASE entity_type WHEN 'release_run' THEN release_run_id
                    ELSE execution_attempt_id END ORDER BY to_version)
        )
        SELECT 'count' AS problem, entity.id::text FROM entity WHERE version <> (SELECT count(*) FROM event
            WHERE event.entity_type = entity.entity_type AND event.entity_id = entity.id)
        UNION ALL
        SELECT 'end of chain', entity.id::text FROM entity JOIN event ON event.entity_type = entity.entity_type
            AND event.entity_id = entity.id AND event.to_version = entity.version
            WHERE event.to_status <> entity.status OR event.hash <> entity.event_hash
        UNION ALL
        SELECT 'chain', event.id::text FROM event
            WHERE to_version <> position OR previous_status <> from_status OR previous_time > occurred_at
        UNION ALL
        SELECT 'hash', event.id::text FROM event WHERE hash <> sha256(
            COALESCE(previous_hash, '') || convert_to(concat_ws('|', installation_id, repository_id, release_run_id,
                COALESCE(execution_attempt_id::text, '-'), entity_type, from_status, to_status, from_version, to_version,
                reason_code, (extract(epoch FROM occurred_at) * 1000000)::bigint), 'UTF8'))
        UNION ALL
        SELECT 'lease snapshot', lease.id::text FROM runner_leases AS lease
            JOIN release_runs AS run ON run.id = lease.release_run_id
            JOIN release_run_attempts AS attempt ON attempt.id = lease.execution_attempt_id
            WHERE lease.state = 'active' AND (run.status, run.version, run.execution_attempt_id, attempt.status,
                attempt.version) IS DISTINCT FROM (lease.expected_run_status, lease.expected_run_version, attempt.id,
                lease.expected_attempt_status, lease.expected_attempt_version)
        UNION ALL
        SELECT 'open attempt of an ended run, or not its current one', attempt.id::text
            FROM release_run_attempts AS attempt JOIN release_runs AS run ON run.id = attempt.release_run_id
            WHERE attempt.finished_at IS NULL
                AND (run.finished_at IS NOT NULL OR run.execution_attempt_id IS DISTINCT FROM attempt.id)
        UNION ALL
        SELECT 'lease of an ended attempt', lease.id::text FROM runner_leases AS lease
            JOIN release_run_attempts AS attempt ON attempt.id = lease.execution_attempt_id
            WHERE lease.state = 'active' AND attempt.finished_at IS NOT NULL
        UNION ALL
        SELECT 'publication', run.id::text FROM release_runs AS run WHERE NOT EXISTS (
            SELECT FROM publications WHERE release_run_id = run.id AND retry_id = run.retry_id
                AND payload ->> 'status' = run.status)
        """
    )
    assert [tuple(problem) for problem in problems] == []
