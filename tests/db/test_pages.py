"""What the reading login sees: one tenant's rows in one transaction, and none outside of it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from boardreadyops.db import pages
from boardreadyops.db.leases import claim_runner_lease, lease_grant
from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.results import ReportedResult, record_runner_result
from boardreadyops.db.runners import issue_runner_enrollment, register_runner
from boardreadyops.db.runs import enqueue_release_run
from boardreadyops.db.statements import statement
from boardreadyops.domain.identity import RepositoryFacts
from tests.sql.conftest import SHA_A, observation

LOGIN_VIEWS = ("page_runs", "page_attempts", "page_transitions", "page_results", "page_publications")


async def finished_run(app_database: Database) -> UUID:
    """A run of installation 1 with an attempt, a result, events and a publication."""
    async with app_database.transaction() as connection:
        await note_installation(connection, installation_id=1, account_login="acme", account_id=7)
        facts = RepositoryFacts(
            repository_id=10, owner="acme", name="board", private=True, default_branch="main"
        )
        await put_repository(connection, 1, facts, observed_at=datetime(2026, 1, 1, tzinfo=UTC))
        await enqueue_release_run(connection, observation(SHA_A))
        await issue_runner_enrollment(
            connection,
            installation_id=1,
            repository_ids=None,
            name="own-runner",
            token_digest=b"e" * 32,
            ttl_seconds=60,
        )
        registered = await register_runner(
            connection,
            enrollment_digest=b"e" * 32,
            token_digest=b"r" * 32,
            name="own-runner",
            runner_version="1",
        )
        assert registered.registration_id is not None
        claim = await claim_runner_lease(
            connection, registration_id=registered.registration_id, request_id=UUID(int=1), capabilities=()
        )
        assert claim.lease_id is not None
        grant = await lease_grant(connection, claim.lease_id)
        assert grant is not None
        result = ReportedResult(
            release_run_id=grant.release_run_id,
            execution_attempt_id=grant.execution_attempt_id,
            retry_id=grant.retry_id,
            registration_id=grant.registration_id,
            body_sha256=b"b" * 32,
            status="completed",
            decision="pass",
            summary="Fine.",
            error_count=0,
            warning_count=0,
            details={"findings": [], "tool_versions": {"kicad-cli": "9.0.8"}},
        )
        await record_runner_result(connection, result)
        return grant.release_run_id


async def test_the_own_tenant_sees_all_of_a_run(app_database: Database, reader_database: Database) -> None:
    run_id = await finished_run(app_database)
    async with pages.reading(reader_database, frozenset({1, 5})) as connection:
        run = await pages.find_run(connection, run_id)
        assert run is not None
        assert (run.status, run.decision, run.runner_name, run.summary) == (
            "completed",
            "pass",
            "own-runner",
            "Fine.",
        )
        assert (await pages.result_details(connection, run))["tool_versions"] == {"kicad-cli": "9.0.8"}
        assert [one.runner_name for one in await pages.attempts(connection, run_id)] == ["own-runner"]
        events, older = await pages.transitions(connection, run_id)
        assert (len(events), older) == (3, False)
        assert len(await pages.publications(connection, run_id)) == 1


@pytest.mark.parametrize("tenants", [frozenset(), frozenset({2}), frozenset({-1})])
async def test_scenario_69_another_tenant_sees_no_row_of_any_view(
    app_database: Database, reader_database: Database, tenants: frozenset[int]
) -> None:
    await finished_run(app_database)
    async with pages.reading(reader_database, tenants) as connection:
        for view in LOGIN_VIEWS:
            assert await connection.fetch(f"SELECT * FROM {view}") == [], view


async def test_the_scope_ends_with_its_transaction(app_database: Database, reader_database: Database) -> None:
    run_id = await finished_run(app_database)
    async with pages.reading(reader_database, "*") as connection:
        assert await pages.find_run(connection, run_id) is not None
    async with reader_database.connection() as connection:
        assert await pages.find_run(connection, run_id) is None


async def test_the_reading_login_reads_no_payload_token_or_chain(
    app_database: Database, reader_database: Database
) -> None:
    await finished_run(app_database)
    async with reader_database.connection() as connection:
        readable = await connection.fetch(
            """SELECT c.relname || '.' || a.attname AS name FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
               WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
                   AND c.relkind = 'r' AND has_column_privilege(c.oid, a.attnum, 'SELECT')"""
        )
    secret = ("token_digest", "payload", "body_sha256", "event_hash", "hash", "actions", "request_id")
    assert not [row["name"] for row in readable if row["name"].split(".")[1] in secret]


@pytest.mark.by_hand
async def test_the_newest_of_many_runs_are_read_from_their_index(
    owner_connection: Connection, app_database: Database
) -> None:
    await finished_run(app_database)
    await owner_connection.execute(
        """INSERT INTO release_runs (installation_id, repository_id, ref, commit_sha, trust_mode, status, decision,
               created_at, queued_at, updated_at, finished_at)
           SELECT 1, 10, 'refs/pull/' || n || '/head', lpad(to_hex(n), 40, '0'), 'trusted', 'completed', 'pass',
               at, at, at, at
           FROM generate_series(1, 5000) AS n, LATERAL (SELECT now() - n * interval '1 minute' AS at) AS made"""
    )
    await owner_connection.execute("ANALYZE release_runs, repositories")
    nothing = [None] * 9
    plan = await owner_connection.fetch("EXPLAIN " + statement("page_run_ids_older"), *nothing, 51)
    text = "\n".join(row[0] for row in plan)
    assert "Index Scan using release_runs_newest" in text
    assert "Sort" not in text
