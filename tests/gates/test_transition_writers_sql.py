"""Planted ways around the functions in query files, function files and migrations."""

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from boardreadyops.db.gate import function_files, history, intent, query_files
from boardreadyops.db.gate.finding import INSTALLED, Finding, Package
from boardreadyops.db.gate.replay import Replay, replay

Edit = Callable[[Path], None]
FUNCTION = "sql/functions/cancel_release_run.sql"
INTERNAL = "sql/functions/end_release_run.sql"
OWNER = "sql/migrations/0027_refs_and_supersession.sql"
LAST = "sql/migrations/9999_planted.sql"


def _check(package: Package) -> set[Finding]:
    done = replay(package)
    rest = (history.check(done), function_files.check(package, done), query_files.check(package))
    return {*done.findings, *(finding for found in rest for finding in found)}


@cache
def _standing() -> frozenset[Finding]:
    """What is found without any plant; nothing, unless a function is being worked on."""
    return frozenset(_check(Package(INSTALLED)))


def _new(tmp_path: Path, edit: Edit) -> set[Finding]:
    root = tmp_path / "boardreadyops"
    shutil.copytree(INSTALLED / "sql", root / "sql")
    edit(root)
    return _check(Package(root)) - _standing()


def _adds(path: str, text: str) -> Edit:
    def edit(root: Path) -> None:
        with (root / path).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    return edit


def _replaces(old: str, new: str, *paths: str) -> Edit:
    def edit(root: Path) -> None:
        for path in paths:
            text = (root / path).read_text(encoding="utf-8")
            assert old in text
            (root / path).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def _function(old: str, new: str, name: str = "cancel_release_run") -> Edit:
    """Edit a function where it stands: its file and its fence alike."""

    def edit(root: Path) -> None:
        file = root / "sql" / "functions" / f"{name}.sql"
        text = file.read_text(encoding="utf-8")
        assert old in text
        _replaces(text, text.replace(old, new), *(str(path) for path in (file, *_fenced_in(root, name))))(
            root
        )

    return edit


def _fenced_in(root: Path, name: str) -> list[Path]:
    begin = f"--! begin functions/{name}.sql"
    return [
        path for path in (root / "sql" / "migrations").iterdir() if begin in path.read_text(encoding="utf-8")
    ]


QUERIES: list[tuple[str, str]] = [
    ("direct_writer", "UPDATE release_runs SET status = $1"),
    ("direct_writer", 'update Public."release_runs" set status = $1'),
    ("direct_writer", "WITH gone AS (DELETE FROM refs RETURNING id) SELECT id FROM gone"),
    ("direct_writer", "MERGE INTO outbox o USING x ON o.id = x.id WHEN MATCHED THEN DELETE"),
    ("direct_writer", "COPY runner_results FROM STDIN"),
    ("direct_writer", "TRUNCATE runner_leases"),
    ("direct_writer", 'DELETE FROM U&"release\\005fruns"'),
    ("direct_writer", "SELECT id FROM release_runs FOR NO KEY UPDATE SKIP LOCKED"),
    ("direct_writer", "DO $$ BEGIN UPDATE refs SET open = false; END $$"),
    (
        "direct_writer",
        "DO $$ DECLARE r record; BEGIN FOR r IN DELETE FROM refs RETURNING * LOOP NULL; END LOOP; END $$",
    ),
    ("direct_writer", "SELECT * INTO refs FROM other"),
    ("direct_writer", "CREATE TRIGGER t BEFORE INSERT ON refs FOR EACH ROW EXECUTE FUNCTION f()"),
    ("direct_writer", "INSERT INTO page_runs (id) VALUES ($1)"),
    ("metadata_writer", "UPDATE installations SET suspended = $1"),
    ("metadata_writer", "DELETE FROM repositories"),
    ("metadata_writer", "DROP TABLE webhook_deliveries"),
    ("catalog_writer", "DELETE FROM pg_catalog.pg_trigger"),
    ("dynamic_sql", "SELECT format('DELETE FROM %I', $1::text)"),
    ("dynamic_sql", "SELECT quote_ident($1)"),
    ("dynamic_sql", "SELECT query_to_xml($1, true, true, '')"),
    ("dynamic_sql", "SELECT dblink_exec('', 'DELETE FROM refs')"),
    ("dynamic_sql", "EXECUTE prepared(1)"),
    ("dynamic_sql", "COPY x FROM PROGRAM 'true'"),
    ("dynamic_sql", "DO $$ BEGIN EXECUTE 'x'; END $$"),
    ("dynamic_sql", "DO LANGUAGE plpython3u 'x'"),
    ("takes_power", "SELECT set_config('session_replication_role', 'replica', true)"),
    ("takes_power", "SELECT set_config($1, $2, true)"),
    ("takes_power", "SET ROLE boardreadyops_owner"),
    ("defines_code", "DO $$ BEGIN NULL; END $$"),
    ("defines_code", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    ("one_statement", "SELECT 1; SELECT 2"),
    ("one_statement", "-- nothing"),
    ("unreadable", "SELECT FROM WHERE"),
]

FUNCTIONS: list[tuple[str, Edit]] = [
    ("not_frozen", _replaces("'applied'::text", "'stale'::text", FUNCTION)),
    ("not_frozen", _adds(FUNCTION, "-- one more comment")),
    ("not_frozen", _replaces("'applied'::text", "'stale'::text", OWNER)),
    (
        "not_frozen",
        _replaces("--! begin functions/cancel_release_run.sql", "--! begin functions/other.sql", OWNER),
    ),
    ("security_invoker", _function("SECURITY DEFINER", "SECURITY INVOKER")),
    ("security_invoker", _function(" SECURITY DEFINER", "")),
    (
        "security_definer",
        _function("LANGUAGE plpgsql AS", "LANGUAGE plpgsql SECURITY DEFINER AS", "end_release_run"),
    ),
    ("search_path", _function(" SET search_path = pg_catalog, public, pg_temp", "")),
    ("search_path", _function("= pg_catalog, public, pg_temp", "= pg_temp, pg_catalog, public")),
    ("search_path", _function("= pg_catalog, public, pg_temp", "= public, pg_catalog, pg_temp")),
    ("search_path", _function("= pg_catalog, public, pg_temp", "= pg_catalog, public")),
    ("search_path", _function("SET search_path", "SET work_mem = '1GB' SET search_path")),
    (
        "dynamic_sql",
        _function("    RETURN QUERY SELECT 'applied'", "    EXECUTE 'x';\n    RETURN QUERY SELECT 'applied'"),
    ),
    (
        "dynamic_sql",
        _function(
            "RETURN QUERY SELECT 'applied'::text, v_run.status::text, v_run.version::bigint",
            "RETURN QUERY EXECUTE 'x'",
        ),
    ),
    (
        "dynamic_sql",
        _function(
            "    RETURN QUERY SELECT 'applied'",
            "    PERFORM dblink_exec('x');\n    RETURN QUERY SELECT 'applied'",
        ),
    ),
    ("dynamic_sql", _function("LANGUAGE plpgsql", "LANGUAGE plpython3u")),
    ("when_others", _function("END\n$$;", "EXCEPTION WHEN others THEN\n    RETURN;\nEND\n$$;")),
    ("internal_granted", _function("-- Locks", "-- Internal: called by others.\n-- Locks")),
    ("internal_granted", _function("-- Internal:", "-- Inside:", "end_release_run")),
    ("one_function", _function("CREATE OR REPLACE", "CREATE")),
    ("one_function", _function("boardreadyops_cancel_release_run(", "boardreadyops_cancel_it(")),
    ("one_function", _adds(FUNCTION, "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1';")),
    ("one_function", _adds(FUNCTION, "DELETE FROM refs;")),
    ("unreadable", _function("BEGIN\n", "BEGIN IF\n")),
    ("not_frozen", lambda root: (root / FUNCTION).unlink()),
]

_AGAIN = (INSTALLED / FUNCTION).read_text(encoding="utf-8")
NESTED = [
    "IF true THEN {}; END IF;",
    "IF false THEN NULL; ELSIF true THEN {}; END IF;",
    "IF false THEN NULL; ELSE {}; END IF;",
    "CASE WHEN true THEN {}; END CASE;",
    "CASE 1 WHEN 2 THEN NULL; ELSE {}; END CASE;",
    "LOOP {}; END LOOP;",
    "WHILE true LOOP {}; END LOOP;",
    "FOR i IN 1..2 LOOP {}; END LOOP;",
    "FOR v_run IN SELECT * FROM release_runs LOOP {}; END LOOP;",
    "FOREACH v_run IN ARRAY ARRAY[]::release_runs[] LOOP {}; END LOOP;",
    "<<inner>> DECLARE v_more int; BEGIN {}; END;",
    "BEGIN NULL; EXCEPTION WHEN unique_violation THEN {}; END;",
]
BODIES: list[tuple[str, str]] = [
    ("dynamic_sql", "EXECUTE 'x'"),
    ("dynamic_sql", "execute /* */ format('DELETE FROM %I', 'refs')"),
    ("dynamic_sql", "FOR v_run IN EXECUTE 'x' LOOP NULL; END LOOP"),
    ("dynamic_sql", "PERFORM query_to_xml('x', true, true, '')"),
    ("ddl_in_function", "ALTER TABLE release_runs DISABLE TRIGGER ALL"),
    ("ddl_in_function", "TRUNCATE refs"),
    ("ddl_in_function", "GRANT UPDATE ON refs TO boardreadyops_app"),
    ("ddl_in_function", "CREATE TEMP TABLE refs AS SELECT 1"),
    ("append_only", "DELETE FROM release_run_transition_events"),
    ("catalog_writer", "UPDATE pg_proc SET prosecdef = false"),
    ("takes_power", "SET LOCAL session_replication_role = replica"),
    ("takes_power", "PERFORM set_config('role', 'postgres', true)"),
]


@pytest.mark.parametrize("around", NESTED)
@pytest.mark.parametrize(("rule", "text"), BODIES)
def test_what_a_body_may_not_do_is_found_however_deep_it_lies(
    tmp_path: Path, around: str, rule: str, text: str
) -> None:
    body = f"BEGIN\n    {around.format(text)}\n"
    edited = re.sub(r"\bBEGIN\n", lambda _: body, _AGAIN, count=1)
    (tmp_path / "sql/functions").mkdir(parents=True)
    (tmp_path / FUNCTION).write_text(edited, encoding="utf-8")
    found = function_files.check(Package(tmp_path), Replay())
    line = edited[: edited.index(text)].count("\n") + 1
    assert (rule, line) in {(finding.rule, finding.line) for finding in found}


_INVOKER = "ALTER FUNCTION boardreadyops_cancel_release_run SECURITY INVOKER;"
MIGRATIONS: list[tuple[str, str]] = [
    ("redefined", f"--! begin functions/cancel_release_run.sql\n{_AGAIN}--! end"),
    ("outside_fence", _AGAIN),
    ("outside_fence", f"--! begin functions/close_ref.sql\n{_AGAIN}--! end"),
    ("redefined", f"/*\n--! begin functions/cancel_release_run.sql\n--! end\n*/\n{_AGAIN}"),
    ("overload", _AGAIN.replace("p_reason_code text,", "p_reason_code varchar,")),
    ("overload", _AGAIN.replace("p_now timestamptz", "p_more int, p_now timestamptz")),
    ("unknown_function", "CREATE FUNCTION boardreadyops_more() RETURNS int LANGUAGE sql AS 'SELECT 1';"),
    ("function_altered", _INVOKER),
    ("function_altered", "ALTER FUNCTION boardreadyops_cancel_release_run OWNER TO postgres;"),
    ("function_altered", "ALTER FUNCTION boardreadyops_cancel_release_run RENAME TO boardreadyops_other;"),
    ("function_altered", "ALTER FUNCTION boardreadyops_cancel_release_run SET SCHEMA elsewhere;"),
    ("function_altered", "DROP FUNCTION boardreadyops_cancel_release_run;"),
    ("function_altered", "DROP ROUTINE IF EXISTS public.boardreadyops_close_ref CASCADE;"),
    ("public_grant", "GRANT EXECUTE ON FUNCTION boardreadyops_cancel_release_run TO PUBLIC;"),
    ("public_grant", "GRANT SELECT ON refs TO boardreadyops_app, PUBLIC;"),
    ("extra_grant", "GRANT EXECUTE ON FUNCTION boardreadyops_end_release_run TO boardreadyops_app;"),
    ("extra_grant", "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO boardreadyops_app;"),
    ("extra_grant", "GRANT EXECUTE ON FUNCTION boardreadyops_close_ref TO boardreadyops_reader;"),
    ("extra_grant", "GRANT INSERT ON refs TO boardreadyops_app;"),
    ("extra_grant", "GRANT UPDATE (status) ON release_runs TO boardreadyops_app;"),
    ("extra_grant", "GRANT DELETE ON ALL TABLES IN SCHEMA public TO boardreadyops_app;"),
    ("extra_grant", "GRANT ALL ON refs TO boardreadyops_app;"),
    ("extra_grant", "GRANT SELECT ON refs TO boardreadyops_app WITH GRANT OPTION;"),
    ("missing_grant", "REVOKE EXECUTE ON FUNCTION boardreadyops_close_ref FROM boardreadyops_app;"),
    ("hidden_writer", "GRANT boardreadyops_owner TO boardreadyops_app;"),
    ("hidden_writer", "CREATE RULE r AS ON INSERT TO webhook_deliveries DO ALSO DELETE FROM refs;"),
    ("hidden_writer", "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();"),
    ("guard_disabled", "ALTER TABLE release_run_transition_events DISABLE TRIGGER append_only;"),
    ("guard_disabled", "ALTER TABLE release_run_transition_events DISABLE TRIGGER ALL;"),
    ("guard_disabled", "ALTER TABLE release_run_transition_events ENABLE REPLICA TRIGGER append_only;"),
    ("guard_disabled", "ALTER TABLE release_runs DISABLE ROW LEVEL SECURITY;"),
    ("guard_disabled", "ALTER TABLE release_runs OWNER TO boardreadyops_app;"),
    ("event_trigger", "DROP TRIGGER append_only ON release_run_transition_events;"),
    ("row_security", "DROP POLICY app_all ON reconciliation_findings;"),
    ("view_rights", "CREATE OR REPLACE VIEW page_runs AS SELECT * FROM release_runs;"),
    ("missing_table", "DROP TABLE reconciliation_findings;"),
    ("direct_writer", "UPDATE release_runs SET status = 'queued';"),
    ("direct_writer", "DO $$ BEGIN DELETE FROM refs; END $$;"),
    ("dynamic_sql", "DO $$ BEGIN EXECUTE 'DELETE FROM ' || 'refs'; END $$;"),
    ("takes_power", "SET session_replication_role = replica;"),
    ("unreadable", "ALTER TABEL refs;"),
]


@pytest.mark.parametrize(("rule", "text"), QUERIES)
def test_a_planted_query_file_is_found(tmp_path: Path, rule: str, text: str) -> None:
    path = "sql/queries/planted.sql"
    found = _new(tmp_path, _adds(path, f"-- Planted.\n{text}"))
    assert rule in {finding.rule for finding in found}, found
    assert {finding.path for finding in found} == {f"boardreadyops/{path}"}


@pytest.mark.parametrize(("rule", "edit"), FUNCTIONS)
def test_a_planted_change_of_a_function_is_found(tmp_path: Path, rule: str, edit: Edit) -> None:
    found = _new(tmp_path, edit)
    assert rule in {finding.rule for finding in found}, found


@pytest.mark.parametrize(("rule", "text"), MIGRATIONS)
def test_a_planted_migration_is_found(tmp_path: Path, rule: str, text: str) -> None:
    found = _new(tmp_path, _adds(LAST, text))
    assert rule in {finding.rule for finding in found}, found


def test_a_function_that_a_later_migration_takes_over_needs_its_line_changed(tmp_path: Path) -> None:
    fence = f"--! begin functions/cancel_release_run.sql\n{_AGAIN}--! end"
    (finding,) = _new(tmp_path, _adds(LAST, fence))
    assert (finding.path, finding.rule) == (f"boardreadyops/{LAST}", "redefined")
    assert "owning_migration.py" in finding.message


def test_the_writers_that_are_named_are_let_through() -> None:
    named = {query for queries in intent.WRITERS.values() for query in queries}
    assert named <= {path.stem for path, _ in Package().sql("queries")}
    assert not [finding for finding in _standing() if finding.path.startswith("boardreadyops/sql/queries")]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("\\set id random(1, 9)\nSELECT boardreadyops_claim_outbox(:id, 60);", []),
        ("\\set id random(1, 9)\nUPDATE release_runs SET version = :id;", ["direct_writer"]),
        ("SELECT FROM WHERE", ["unreadable"]),
    ],
)
def test_sql_that_lies_elsewhere_is_read_too(tmp_path: Path, text: str, rules: list[str]) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/script.sql").write_text(text, encoding="utf-8")
    assert [finding.rule for finding in query_files.check_others(Package(tmp_path))] == rules
