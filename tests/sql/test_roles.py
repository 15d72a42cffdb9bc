"""What the logins may do: the wall behind every function."""

from __future__ import annotations

from importlib.resources import files

import asyncpg
import pytest

from boardreadyops.db.pool import Connection, Database
from tests.sql.conftest import World, table_names

# What the working login may write directly; every other table, whichever there are, is written by functions alone.
METADATA = {
    "installations": {"INSERT", "UPDATE"},
    "repositories": {"INSERT", "UPDATE"},
    "deployment_settings": {"UPDATE"},
    "webhook_deliveries": {"INSERT", "UPDATE", "DELETE"},
}


async def columns_of(owner: Connection, table: str) -> list[str]:
    rows = await owner.fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped",
        table,
    )
    return [row["attname"] for row in rows]


async def refused(connection: Connection, *statements: str) -> None:
    for statement in statements:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


def writes(table: str, columns: list[str]) -> dict[str, list[str]]:
    """Every way to write a table, by the right it needs; UPDATE and INSERT also for each column alone."""
    return {
        "INSERT": [
            f"INSERT INTO {table} DEFAULT VALUES",
            *(f"INSERT INTO {table} ({column}) OVERRIDING SYSTEM VALUE VALUES (NULL)" for column in columns),
        ],
        "UPDATE": [
            *(f"UPDATE {table} SET {column} = DEFAULT" for column in columns),
            f"SELECT * FROM {table} FOR UPDATE",
            f"SELECT * FROM {table} FOR SHARE",
        ],
        "DELETE": [f"DELETE FROM {table}"],
        "TRUNCATE": [f"TRUNCATE {table}"],
        "ownership": [
            f"ALTER TABLE {table} DISABLE TRIGGER ALL",
            f"ALTER TABLE {table} ADD COLUMN odd int",
            f"CREATE INDEX ON {table} (({columns[0]} IS NULL))",
            f"DROP TABLE {table}",
        ],
        "TRIGGER": [
            f"CREATE TRIGGER odd BEFORE DELETE ON {table} EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        ],
        "REFERENCES": [f"CREATE TABLE odd (x int REFERENCES {table})"],
    }


async def test_the_working_login_writes_no_table_but_metadata_whichever_way(world: World) -> None:
    async with world.app.connection() as connection:
        for table in await table_names(world.owner):
            for right, statements in writes(table, await columns_of(world.owner, table)).items():
                if right not in METADATA.get(table, ()):
                    await refused(connection, *statements)


async def test_the_working_logins_direct_writes_are_those_of_metadata(world: World) -> None:
    rows = await world.owner.fetch(
        "SELECT relname, privilege FROM pg_class, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS privilege"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')"
        " AND (has_table_privilege('boardreadyops_app', oid, privilege)"
        " OR (privilege <> 'DELETE' AND has_any_column_privilege('boardreadyops_app', oid, privilege)))"
    )
    granted: dict[str, set[str]] = {}
    for row in rows:
        granted.setdefault(row["relname"], set()).add(row["privilege"])
    assert granted == METADATA


async def test_who_names_no_tenant_sees_none(world: World) -> None:
    assert await world.owner.fetchval("SELECT boardreadyops_tenant_visible(1)") is False


async def test_the_reading_login_writes_nothing(world: World, reader_database: Database) -> None:
    async with reader_database.connection() as connection:
        for table in await table_names(world.owner):
            for statements in writes(table, await columns_of(world.owner, table)).values():
                await refused(connection, *statements)


async def test_no_login_touches_a_sequence_or_makes_anything_of_its_own(
    world: World, reader_database: Database
) -> None:
    names = await world.owner.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'"
    )
    assert "claim_turn" in {row["relname"] for row in names}
    for database in (world.app, reader_database):
        async with database.connection() as connection:
            for row in names:
                await refused(
                    connection,
                    f"SELECT setval('{row['relname']}', 7)",
                    f"SELECT nextval('{row['relname']}')",
                    f"ALTER SEQUENCE {row['relname']} RESTART",
                )
            await refused(
                connection,
                "CREATE TABLE odd (x int)",
                "CREATE TEMP TABLE release_runs (id uuid)",
                "CREATE SCHEMA odd",
                "CREATE FUNCTION odd() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "SET ROLE boardreadyops_owner",
                "SET session_replication_role = replica",
                "ALTER FUNCTION boardreadyops_due_at SECURITY DEFINER",
                "COPY release_runs FROM PROGRAM 'true'",
            )


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
    texts = {
        f"boardreadyops_{file.name.removesuffix('.sql')}": file.read_text()
        for file in files("boardreadyops").joinpath("sql", "functions").iterdir()
    }
    public = {name for name, text in texts.items() if "\n-- Internal: " not in text}
    assert by_app == public - {"boardreadyops_tenant_visible"}
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


async def test_a_call_of_an_internal_function_is_refused(world: World, reader_database: Database) -> None:
    rows = await world.owner.fetch(
        "SELECT function.proname, string_agg('NULL::' || format_type(argument.type, NULL), ', ' ORDER BY argument.n)"
        " AS nulls, has_function_privilege('boardreadyops_app', function.oid, 'EXECUTE') AS public"
        " FROM pg_proc AS function"
        " LEFT JOIN unnest(function.proargtypes::oid[]) WITH ORDINALITY AS argument (type, n) ON true"
        " WHERE function.proname LIKE 'boardreadyops\\_%' AND function.prorettype <> 'trigger'::regtype"
        " GROUP BY function.oid, function.proname"
    )
    internal = [row for row in rows if not row["public"] and row["proname"] != "boardreadyops_tenant_visible"]
    assert len(internal) > 20
    async with world.app.connection() as app, reader_database.connection() as reader:
        for row in internal:
            call = f"SELECT {row['proname']}({row['nulls'] or ''})"
            await refused(app, call)
            await refused(reader, call)
        for row in rows:
            if row["public"] and row["proname"] != "boardreadyops_tenant_visible":
                await refused(reader, f"SELECT {row['proname']}({row['nulls']})")
