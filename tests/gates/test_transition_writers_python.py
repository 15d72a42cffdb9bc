"""Planted ways of writing the lifecycle from Python: each is found where it stands, honest lines are left alone."""

from pathlib import Path

import pytest

from boardreadyops.db.gate import intent, python_files
from boardreadyops.db.gate.finding import Finding, Package

CAUGHT: list[tuple[str, str]] = [
    ("direct_writer", 'q = "UPDATE release_runs SET status = $1"'),
    ("direct_writer", 'q = "update release_runs set status = $1"'),
    ("direct_writer", 'q = "uPdAtE Release_Runs sEt status = $1"'),
    ("direct_writer", "q = 'UPDATE \"release_runs\" SET status = $1'"),
    ("direct_writer", 'q = "UPDATE public.release_runs SET status = $1"'),
    ("direct_writer", 'q = \'UPDATE "public" . "release_runs" SET status = $1\''),
    ("direct_writer", 'q = "UPDATE ONLY release_runs AS r SET status = $1"'),
    ("direct_writer", 'q = "UPDATE/**/release_runs/* -- */SET status = $1"'),
    ("direct_writer", 'q = "-- SELECT 1\\nDELETE -- nothing\\nFROM -- at all\\nrefs"'),
    ("direct_writer", "q = 'DELETE FROM U&\"release\\\\005fruns\"'"),
    ("direct_writer", "q = 'DELETE FROM U&\"release!005fruns\" UESCAPE \\'!\\''"),
    ("direct_writer", 'q = "\\x55PDATE release\\u005fruns SET status = $1"'),
    ("direct_writer", 'q = "UPDATE release_" "runs SET status = $1"'),
    ("direct_writer", 'q = (\n    "UPDATE release_"\n    "runs SET status = $1"\n)'),
    ("direct_writer", 'q = b"UPDATE release_runs SET status = $1"'),
    ("direct_writer", 'q = "INSERT INTO outbox DEFAULT VALUES"'),
    ("direct_writer", 'q = "insert into publications values (1) on conflict do nothing"'),
    ("direct_writer", 'q = "WITH gone AS (DELETE FROM refs RETURNING *) SELECT * FROM gone"'),
    ("direct_writer", 'q = "with a as (select 1), b as (update refs set open = true returning 1) table b"'),
    ("direct_writer", 'q = "MERGE INTO runner_leases l USING x ON true WHEN MATCHED THEN DELETE"'),
    ("direct_writer", 'q = "COPY release_run_transition_events FROM STDIN"'),
    ("direct_writer", 'q = "COPY (DELETE FROM refs RETURNING 1) TO STDOUT"'),
    ("direct_writer", 'q = "truncate webhook_deliveries, only runner_results cascade"'),
    ("direct_writer", 'q = "SELECT 1; DELETE FROM runner_enrollments"'),
    ("direct_writer", 'q = "EXPLAIN ANALYZE DELETE FROM runner_registrations"'),
    ("direct_writer", 'q = "SELECT id FROM release_runs WHERE id = $1 FOR UPDATE"'),
    ("direct_writer", 'q = "LOCK TABLE release_run_attempts"'),
    ("direct_writer", 'q = "SELECT * INTO refs FROM x"'),
    ("direct_writer", 'q = "create table if not exists outbox as select 1"'),
    ("direct_writer", 'q = "ALTER TABLE release_runs DISABLE TRIGGER ALL"'),
    ("direct_writer", 'q = "DROP TRIGGER append_only ON release_run_transition_events"'),
    ("direct_writer", 'q = "DROP TABLE IF EXISTS reconciliation_findings"'),
    ("direct_writer", 'q = "GRANT UPDATE ON refs TO boardreadyops_app"'),
    ("direct_writer", 'q = "UPDATE page_runs SET status = $1"'),
    ("direct_writer", 'q = "CREATE RULE r AS ON SELECT TO x DO ALSO DELETE FROM refs"'),
    ("direct_writer", 'q = "DO $$ BEGIN UPDATE release_runs SET status = 1; END $$"'),
    ("direct_writer", "q = \"do 'begin for i in 1..9 loop delete from refs; end loop; end'\""),
    ("direct_writer", 'q = "UPDATE release_runs SET status = %s"'),
    ("direct_writer", 'q = "UPDATE release_runs SET status = :status WHERE id = :id"'),
    ("direct_writer", "text = f\"{call('DELETE FROM refs')}\""),
    ("dynamic_sql", "q = \"DO $$ BEGIN EXECUTE 'DROP ' || x; END $$\""),
    ("dynamic_sql", 'q = "PREPARE x AS SELECT 1"'),
    ("catalog_writer", 'q = "UPDATE pg_proc SET prosecdef = false"'),
    ("takes_power", 'q = "SET LOCAL session_replication_role = replica"'),
    ("metadata_writer", 'q = "UPDATE installations SET suspended = true"'),
    ("built_sql", 'q = f"UPDATE {table} SET status = $1"'),
    ("built_sql", 'q = f"update {table} set status = $1"'),
    ("built_sql", 'q = f"DELETE FROM {table}"'),
    ("built_sql", 'q = f"{verb} refs SET open = false"'),
    ("built_sql", 'q = f"{verb} FROM outbox"'),
    ("built_sql", 'q = f"{verb} release_runs {rest}"'),
    ("built_sql", 'q = "UPDATE " + table + " SET status = $1"'),
    ("built_sql", 'q = "UPD" + "ATE refs SE" + "T open = true"'),
    ("built_sql", 'q = "DELETE FROM %s" % table'),
    ("built_sql", 'q = "DELETE FROM %(table)s WHERE id = 1" % {"table": table}'),
    ("built_sql", 'q = "INSERT INTO {} VALUES (1)".format(table)'),
    ("built_sql", 'q = "insert into {table} values (1)".format_map(names)'),
    ("built_sql", 'q = "".join(["UPDATE ", "release_", "runs SET status = 1"])'),
    ("built_sql", 'q = " ".join(("DELETE", "FROM", table))'),
    ("built_sql", 'q = "DELETE FROM @".replace("@", table)'),
    ("built_sql", 'q = "DELETE FROM refs".join(parts)'),
    ("built_sql", 'q = f"{this.verb} {this.table} SET x = 1"'),
    ("built_sql", 'T = "refs"\ndef f(): return "DELETE" + " FROM " + T'),
    ("built_sql", 'V = "UPDATE"\ndef f(): return f"{V} refs SET open = true"'),
    ("built_sql", 'async def f(c, n): await c.fetch(f"{n}")'),
    ("built_sql", "async def f(c, n): await c.execute('VALUES (%s)' % n)"),
    ("built_sql", "async def f(c, n): await c.fetchrow('VALUES ({})'.format(n))"),
    ("built_sql", "async def f(c, n): await c.fetchval(statement('x') + n)"),
    ("built_sql", 'q = "DELETE"\nq += " FROM "\nq += table'),
    ("built_sql", 'def f(q):\n    q += " SET x = 1 WHERE release_runs"'),
    ("unnamed_statement", "async def f(c, q): await c.execute(q)"),
    ("unnamed_statement", "async def f(c): await c.execute(statement('x'))"),
    ("unnamed_statement", "def statement(x): return x\nasync def f(c): await c.execute(statement('x'))"),
    ("unnamed_statement", "from elsewhere import statement\nasync def f(c): await c.execute(statement('x'))"),
    (
        "unnamed_statement",
        "from elsewhere import x as statement\nasync def f(c): await c.execute(statement('x'))",
    ),
    (
        "unnamed_statement",
        "from boardreadyops.bench.seed import statement\nasync def f(c): await c.execute(statement('x'))",
    ),
    (
        "unnamed_statement",
        "from boardreadyops.db.statements import statement\nstatement = str\n"
        "async def f(c): await c.execute(statement('x'))",
    ),
    ("unnamed_statement", "async def f(c, names): await c.fetch(names['x'], 1)"),
    ("unnamed_statement", "async def f(c): await c.prepare(text())"),
    ("direct_writer", "async def f(c, rows): await c.copy_records_to_table('refs', records=rows)"),
    ("direct_writer", "async def f(c, file): await c.copy_to_table(table, source=file)"),
    ("sql_in_python", 'q = "SELECT 1"'),
    ("sql_in_python", 'q = "-- late\\nINSERT INTO elsewhere VALUES (1)"'),
    ("sql_in_python", 'q = "MERGE INTO elsewhere USING seen ON true"'),
    ("sql_in_python", 'q = "TRUNCATE elsewhere"'),
    ("sql_in_python", 'q = "COPY elsewhere FROM STDIN"'),
    ("sql_in_python", 'q = "DROP TABLE elsewhere"'),
    ("sql_in_python", 'q = "WITH seen AS (SELECT 1) TABLE seen"'),
    ("sql_in_python", 'q = "select id from release_runs where id = $1"'),
    ("sql_in_python", 'q = "INSERT INTO elsewhere VALUES (1)"'),
    ("sql_in_python", 'q = "CREATE OR REPLACE FUNCTION f() RETURNS void"'),
    ("sql_in_python", 'q = "ALTER ROLE boardreadyops_app NOLOGIN"'),
    ("sql_in_python", 'q = "GRANT SELECT ON elsewhere TO boardreadyops_reader"'),
    ("sql_in_python", 'q = "SET LOCAL app.installation = 1"'),
    ("retired_factory", "store = create_lifecycle_store(pool)"),
    ("retired_factory", "class LifecycleStore: pass"),
    ("retired_factory", "from boardreadyops.db.stores import LifecycleStore as Store"),
    ("retired_factory", "def lifecycle_factory(): pass"),
    ("retired_factory", "store = stores.lifecycle_store"),
    ("unreadable", "def broken(:"),
]

LEFT_ALONE = [
    '"""Update release_runs from Python? Never: DELETE FROM refs is for the functions."""',
    'query = statement("select_run")',
    'says = "Select a runner from the list"',
    'says = "update the settings, then create a runner"',
    'ref = f"refs/heads/{branch}"',
    'says = f"{count} publications are due, {late} of the outbox are late"',
    'key = "release_runs"',
    'says = f"{number} {noun}s"',
    'says = "Do not merge; commit, then delete the branch"',
    'word = "commit"',
    "from boardreadyops.db.statements import statement\nasync def f(c, n): await c.fetch(statement('run'), n)",
]


def _findings(tmp_path: Path, text: str, path: str = "worker/relay.py") -> list[Finding]:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"{text}\n", encoding="utf-8")
    return list(python_files.check(Package(tmp_path)))


@pytest.mark.parametrize(("rule", "text"), CAUGHT)
def test_a_planted_writer_is_found_where_it_stands(tmp_path: Path, rule: str, text: str) -> None:
    findings = _findings(tmp_path, text)
    assert rule in {finding.rule for finding in findings}, findings
    assert {finding.path for finding in findings} == {"boardreadyops/worker/relay.py"}
    assert all(1 <= finding.line <= text.count("\n") + 1 for finding in findings)


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_an_honest_line_is_left_alone(tmp_path: Path, text: str) -> None:
    assert _findings(tmp_path, text) == []


def test_measurements_have_no_leave_to_write_from_python(tmp_path: Path) -> None:
    seeds = 'q = "INSERT INTO release_runs SELECT * FROM generate_series(1, 2000000)"'
    assert _findings(tmp_path, seeds, "bench/seed.py") != []


def test_one_file_and_no_other_seeds() -> None:
    assert {"sql/bench/seed.sql"} == intent.SEEDING


def test_rooms_without_a_database_may_fetch_other_things(tmp_path: Path) -> None:
    assert _findings(tmp_path, "def f(git, url): git.fetch(url)", "agent/checkout.py") == []


def test_vendored_files_stay_as_they_came(tmp_path: Path) -> None:
    assert _findings(tmp_path, 'q = "DELETE FROM refs"', "standin/vendored/x.py") == []
