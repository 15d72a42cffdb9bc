"""Planted changes in a real database: each is found, and a migrated database is clean."""

import pytest

from boardreadyops.config import Secret
from boardreadyops.db.gate import live
from boardreadyops.db.pool import Connection, connect
from tests.conftest import DatabaseUrls

EVENTS = "release_run_transition_events"
PLANTED: list[tuple[str, str]] = [
    ("live_function", "ALTER FUNCTION boardreadyops_claim_outbox SECURITY INVOKER"),
    ("live_function", "ALTER FUNCTION boardreadyops_claim_outbox RESET search_path"),
    (
        "live_function",
        "ALTER FUNCTION boardreadyops_claim_outbox SET search_path = pg_temp, pg_catalog, public",
    ),
    ("live_function", "ALTER FUNCTION boardreadyops_claim_outbox SET work_mem = '1GB'"),
    ("live_function", "ALTER FUNCTION boardreadyops_claim_outbox STABLE"),
    ("live_function", "ALTER FUNCTION boardreadyops_claim_outbox STRICT"),
    ("live_function", "ALTER FUNCTION boardreadyops_end_release_run SECURITY DEFINER"),
    ("live_owner", "ALTER FUNCTION boardreadyops_claim_outbox OWNER TO boardreadyops_reader"),
    ("live_missing", "ALTER FUNCTION boardreadyops_claim_outbox RENAME TO boardreadyops_claim_it"),
    ("live_unexpected", "CREATE FUNCTION public.more() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    (
        "live_overload",
        "CREATE FUNCTION boardreadyops_claim_outbox(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ),
    (
        "live_unexpected",
        "CREATE SCHEMA hidden CREATE VIEW v AS SELECT 1; CREATE FUNCTION hidden.f() RETURNS int"
        " LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; ALTER FUNCTION hidden.f OWNER TO boardreadyops_owner",
    ),
    ("live_public_grant", "GRANT EXECUTE ON FUNCTION boardreadyops_claim_outbox TO PUBLIC"),
    ("live_public_grant", "GRANT SELECT ON refs TO PUBLIC"),
    ("live_public_grant", "GRANT SELECT (id) ON release_runs TO PUBLIC"),
    ("live_extra_grant", "GRANT EXECUTE ON FUNCTION boardreadyops_end_release_run TO boardreadyops_app"),
    ("live_extra_grant", "GRANT INSERT ON refs TO boardreadyops_app"),
    ("live_extra_grant", "GRANT UPDATE (status) ON release_runs TO boardreadyops_app"),
    ("live_extra_grant", f"GRANT TRUNCATE ON {EVENTS} TO boardreadyops_app"),
    ("live_extra_grant", "GRANT SELECT ON runner_registrations TO boardreadyops_reader"),
    ("live_extra_grant", "GRANT SELECT (token_digest) ON runner_registrations TO boardreadyops_reader"),
    ("live_extra_grant", "GRANT SELECT ON refs TO boardreadyops_app WITH GRANT OPTION"),
    ("live_extra_grant", "GRANT USAGE ON SEQUENCE outbox_id_seq TO boardreadyops_app"),
    ("live_missing_grant", "REVOKE EXECUTE ON FUNCTION boardreadyops_claim_outbox FROM boardreadyops_app"),
    ("live_trigger", f"ALTER TABLE {EVENTS} DISABLE TRIGGER append_only"),
    ("live_trigger", f"ALTER TABLE {EVENTS} ENABLE REPLICA TRIGGER append_only"),
    ("live_trigger", f"DROP TRIGGER append_only_truncate ON {EVENTS}"),
    ("live_trigger", "ALTER TABLE release_runs DISABLE TRIGGER ALL"),
    (
        "live_trigger",
        f"CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE ON {EVENTS}"
        " FOR EACH ROW EXECUTE FUNCTION boardreadyops_refuse_event_change()",
    ),
    (
        "live_unexpected",
        "CREATE TRIGGER more BEFORE UPDATE ON refs"
        " FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ),
    ("live_policy", "DROP POLICY app_all ON refs"),
    ("live_policy", "ALTER POLICY reader_tenant ON refs USING (true)"),
    ("live_policy", "ALTER POLICY reader_tenant ON refs TO boardreadyops_app"),
    ("live_policy", "CREATE POLICY more ON refs FOR ALL TO PUBLIC USING (true)"),
    ("live_row_security", "ALTER TABLE refs DISABLE ROW LEVEL SECURITY"),
    ("live_view_rights", "ALTER VIEW page_runs RESET (security_invoker)"),
    ("live_owner", "ALTER TABLE refs OWNER TO boardreadyops_app"),
    ("live_unexpected", "CREATE TABLE public.more (id int)"),
    ("live_unexpected", "CREATE VIEW public.more AS SELECT * FROM release_runs"),
    ("live_missing", "DROP VIEW page_transitions"),
    ("live_stray", "CREATE RULE r AS ON INSERT TO webhook_deliveries DO ALSO DELETE FROM refs"),
    (
        "live_stray",
        "CREATE FUNCTION public.e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
        " CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION public.e()",
    ),
    ("live_stray", "GRANT CREATE ON SCHEMA public TO boardreadyops_app"),
    ("live_stray", "GRANT USAGE ON SCHEMA public TO PUBLIC"),
    ("live_stray", "ALTER SCHEMA public OWNER TO CURRENT_USER"),
    ("live_stray", "ALTER DEFAULT PRIVILEGES FOR ROLE boardreadyops_owner GRANT SELECT ON TABLES TO PUBLIC"),
    (
        "live_stray",
        "ALTER DEFAULT PRIVILEGES FOR ROLE boardreadyops_owner GRANT EXECUTE ON FUNCTIONS TO PUBLIC",
    ),
    ("live_stray", "ALTER ROLE boardreadyops_app SET session_replication_role = replica"),
    ("live_schema", "UPDATE schema_migrations SET sha256 = repeat('0', 64) WHERE version = 23"),
    (
        "live_schema",
        "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)",
    ),
]


async def test_a_migrated_database_is_clean(owner_connection: Connection) -> None:
    assert await live.check(owner_connection) == []


async def test_the_working_login_can_run_the_gate_too(database_urls: DatabaseUrls) -> None:
    connection = await connect(database_urls.app, application_name="tests")
    try:
        assert await live.check(connection) == []
    finally:
        await connection.close()


@pytest.mark.parametrize(("rule", "planted"), PLANTED)
async def test_a_planted_change_is_found(owner_connection: Connection, rule: str, planted: str) -> None:
    transaction = owner_connection.transaction(isolation="repeatable_read")
    await transaction.start()
    await owner_connection.execute(planted)
    found = await live.check(owner_connection)
    await transaction.rollback()
    assert rule in {finding.rule for finding in found}, found


@pytest.mark.parametrize(
    ("name", "written", "instead", "migration"),
    [
        ("boardreadyops_claim_outbox", "SKIP LOCKED", "", "0024_workflow_dispatch"),
        ("boardreadyops_tenant_visible", "false)", "true)", "0022_baseline"),
    ],
)
async def test_a_changed_body_is_found_and_named(
    owner_connection: Connection, name: str, written: str, instead: str, migration: str
) -> None:
    body = await owner_connection.fetchval("SELECT pg_get_functiondef($1::regproc)", name)
    await owner_connection.execute(body.replace(written, instead))
    (finding,) = await live.check(owner_connection)
    assert finding.rule == "live_function"
    assert f"{name} in the database has other body;" in finding.message
    assert finding.path == f"boardreadyops/sql/migrations/{migration}.sql"


async def test_a_drop_and_create_that_resets_the_grants_is_found(owner_connection: Connection) -> None:
    name = "boardreadyops_claim_outbox"
    body = await owner_connection.fetchval("SELECT pg_get_functiondef($1::regproc)", name)
    await owner_connection.execute(
        f"DROP FUNCTION {name}; {body}; ALTER FUNCTION {name} OWNER TO boardreadyops_owner"
    )
    found = {finding.rule for finding in await live.check(owner_connection)}
    assert found == {"live_public_grant", "live_missing_grant"}


async def test_a_login_that_may_act_as_the_owner_is_found(owner_connection: Connection) -> None:
    transaction = owner_connection.transaction(
        isolation="repeatable_read"
    )  # roles are shared by all databases: never committed
    await transaction.start()
    await owner_connection.execute("GRANT boardreadyops_owner TO boardreadyops_reader")
    found = await live.check(owner_connection)
    await transaction.rollback()
    assert [finding.message for finding in found] == [
        "boardreadyops_reader may act as boardreadyops_owner: revoke it"
    ]


async def test_an_empty_database_is_one_finding_that_says_what_to_do(empty_database: Secret) -> None:
    connection = await connect(empty_database, application_name="tests")
    try:
        (finding,) = await live.check(connection)
    finally:
        await connection.close()
    assert "boardreadyops migrate" in finding.message
