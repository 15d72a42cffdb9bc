"""What the logins may do: the wall behind every function."""

from __future__ import annotations

import asyncpg
import pytest

from boardreadyops.db.pool import Database
from tests.sql.conftest import World

LIFECYCLE = (
    "release_runs",
    "release_run_attempts",
    "release_run_transition_events",
    "runner_leases",
    "runner_results",
    "runner_result_audit",
    "publications",
    "refs",
    "outbox",
    "runner_registrations",
    "runner_enrollments",
    "reconciliation_findings",
    "lifecycle_edges",
    "schema_migrations",
)
METADATA = ("installations", "repositories", "webhook_deliveries", "deployment_settings")


@pytest.mark.parametrize("table", LIFECYCLE)
async def test_the_working_login_reads_but_does_not_write_lifecycle_tables(world: World, table: str) -> None:
    async with world.app.connection() as connection:
        await connection.fetch(f"SELECT * FROM {table} LIMIT 1")
        for statement in (
            f"INSERT INTO {table} DEFAULT VALUES",
            f"DELETE FROM {table}",
            f"TRUNCATE {table}",
            f"SELECT * FROM {table} FOR UPDATE",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


@pytest.mark.parametrize("table", [*LIFECYCLE, *METADATA])
async def test_the_reading_login_writes_nothing(reader_database: Database, table: str) -> None:
    async with reader_database.connection() as connection:
        for statement in (f"INSERT INTO {table} DEFAULT VALUES", f"DELETE FROM {table}", f"TRUNCATE {table}"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


@pytest.mark.parametrize("view", ["page_runs", "page_attempts", "page_transitions", "page_publications"])
async def test_the_reading_login_sees_only_the_tenants_it_names(
    world: World, reader_database: Database, view: str
) -> None:
    await world.opened()
    await world.claimed()
    seen = {}
    for tenants in ("", "2", "1", "1,2", "*"):
        async with reader_database.transaction() as connection:
            await connection.execute("SELECT set_config('boardreadyops.installation_ids', $1, true)", tenants)
            seen[tenants] = await connection.fetchval(f"SELECT count(*) FROM {view}") > 0
    async with reader_database.transaction() as connection:
        assert await connection.fetchval(f"SELECT count(*) FROM {view}") == 0
    assert seen == {"": False, "2": False, "1": True, "1,2": True, "*": True}


async def test_nobody_may_call_an_internal_function(world: World, reader_database: Database) -> None:
    granted = await world.owner.fetch(
        """
        SELECT function.proname, role.rolname, function.prosecdef,
               function.proconfig = ARRAY['search_path=pg_catalog, public, pg_temp'] AS search_path_set
        FROM pg_proc AS function
        CROSS JOIN (VALUES ('boardreadyops_app'), ('boardreadyops_reader')) AS role (rolname)
        WHERE function.proname LIKE 'boardreadyops\\_%' AND has_function_privilege(role.rolname, function.oid, 'EXECUTE')
        """
    )
    by_app = {row["proname"] for row in granted if row["rolname"] == "boardreadyops_app"}
    assert {row["proname"] for row in granted if row["rolname"] == "boardreadyops_reader"} == {
        "boardreadyops_tenant_visible"
    }
    assert len(by_app) == 17
    assert not by_app & {
        "boardreadyops_move_release_run",
        "boardreadyops_end_release_run",
        "boardreadyops_ask_again",
    }
    assert all(
        row["prosecdef"] and row["search_path_set"]
        for row in granted
        if row["rolname"] == "boardreadyops_app"
    )


async def test_no_function_has_two_signatures(world: World) -> None:
    assert (
        await world.owner.fetch(
            "SELECT proname FROM pg_proc WHERE proname LIKE 'boardreadyops\\_%' GROUP BY proname HAVING count(*) > 1"
        )
        == []
    )


async def test_a_temporary_table_of_the_caller_cannot_stand_in_for_a_lifecycle_table(world: World) -> None:
    async with world.app.connection() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("CREATE TEMP TABLE release_runs (id uuid)")
