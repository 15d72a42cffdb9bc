"""The tool that takes guards out: what it makes of a planted function, and that it makes sense of ours."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from boardreadyops.config import Secret
from boardreadyops.db.pool import Connection
from tests.conftest import DatabaseUrls
from tools.mutate.course import Course
from tools.mutate.covering import Coverage, tracing_sql
from tools.mutate.mutants import Mutant, NotSql, mutants_of
from tools.mutate.operators import Edit
from tools.mutate.results import Result, Results, proof, report, table
from tools.mutate.tokens import read_function
from tools.mutate.trial import outcome_of

FUNCTIONS = sorted(Path("boardreadyops/sql/functions").glob("*.sql"))
HEAD = """-- Purpose: planted. IF this were code, it would be mutated.
CREATE OR REPLACE FUNCTION boardreadyops_planted(p_id bigint, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_row outbox;
BEGIN
"""


def planted(tmp_path: Path, body: str) -> list[Mutant]:
    path = tmp_path / "planted.sql"
    path.write_text(f"{HEAD}{body}\nEND\n$$;\n")
    return list(mutants_of(path))


def after(mutants: list[Mutant], kind: str) -> set[str]:
    """The changed lines as the mutants of one kind have them, blanks apart."""
    return {
        " ".join(line[1:].split())
        for mutant in mutants
        if mutant.kind == kind
        for line in mutant.diff.splitlines()
        if line.startswith("+")
    }


def test_each_operand_of_and_and_or_goes_once_at_every_depth(tmp_path: Path) -> None:
    found = planted(
        tmp_path,
        "    IF a OR (b AND 'x OR y' = c) OR n BETWEEN 1 AND 2 THEN\n        RETURN 'x';\n    END IF;",
    )
    assert after(found, "term") == {
        "IF (b AND 'x OR y' = c) OR n BETWEEN 1 AND 2 THEN",
        "IF a OR n BETWEEN 1 AND 2 THEN",
        "IF a OR (b AND 'x OR y' = c) THEN",
        "IF a OR ( 'x OR y' = c) OR n BETWEEN 1 AND 2 THEN",
        "IF a OR (b ) OR n BETWEEN 1 AND 2 THEN",
    }
    assert after(found, "if_false") == {"IF false THEN"}
    assert after(found, "if_true") == set(), "a guard that always returns is no guard"


def test_the_predicates_of_a_where_go_and_columns_that_are_set_stay(tmp_path: Path) -> None:
    body = "    UPDATE outbox SET last_error = kind, ref = a OR b WHERE id = p_id;\n    DELETE FROM outbox WHERE id = p_id AND x;"
    assert after(planted(tmp_path, body), "term") == {
        "UPDATE outbox SET last_error = kind, ref = b WHERE id = p_id;",
        "UPDATE outbox SET last_error = kind, ref = a WHERE id = p_id;",
        "UPDATE outbox SET last_error = kind, ref = a OR b WHERE true;",
        "DELETE FROM outbox WHERE x;",
        "DELETE FROM outbox WHERE id = p_id ;",
    }


def test_locks_go_whole_and_in_parts(tmp_path: Path) -> None:
    found = planted(tmp_path, "    SELECT * INTO v_row FROM outbox AS o FOR NO KEY UPDATE OF o SKIP LOCKED;")
    assert after(found, "lock") == {"SELECT * INTO v_row FROM outbox AS o ;"}
    assert after(found, "of") == {"SELECT * INTO v_row FROM outbox AS o FOR NO KEY UPDATE SKIP LOCKED;"}
    assert after(found, "skip") == {"SELECT * INTO v_row FROM outbox AS o FOR NO KEY UPDATE OF o ;"}
    assert len(planted(tmp_path, "    FOR v_row IN SELECT * FROM outbox FOR SHARE LOOP\n    END LOOP;")) == 1


def test_cases_lose_their_branches(tmp_path: Path) -> None:
    body = "    RETURN CASE WHEN a THEN 'a' ELSE CASE kind WHEN 'x' THEN 'b' END END;"
    assert after(planted(tmp_path, body), "case") == {
        "RETURN CASE WHEN false THEN 'a' ELSE CASE kind WHEN 'x' THEN 'b' END END;",
        "RETURN CASE WHEN a THEN 'a' ELSE CASE kind WHEN NULL THEN 'b' END END;",
    }


def test_bounds_limits_and_defaults_go(tmp_path: Path) -> None:
    body = "    v_row.ref := GREATEST(b, LEAST(c, 1));\n    IF COALESCE(d > left(e, 5), true) THEN\n        PERFORM x();\n    END IF;"
    found = planted(tmp_path, body)
    assert after(found, "bound") == {
        "v_row.ref := (b);",
        "v_row.ref := (LEAST(c, 1));",
        "v_row.ref := GREATEST(b, (c));",
        "v_row.ref := GREATEST(b, (1));",
        "IF COALESCE(d > (e), true) THEN",
    }
    assert after(found, "nulls") == {"IF (d > left(e, 5)) THEN"}
    assert after(found, "boundary") == {"IF COALESCE(d >= left(e, 5), true) THEN"}
    assert after(found, "if_true") == {"IF true THEN"}
    assert after(found, "perform") == {""}
    (limit,) = after(
        planted(tmp_path, "    PERFORM FROM outbox ORDER BY id LIMIT p_limit FOR SHARE;"), "limit"
    )
    assert limit == "PERFORM FROM outbox ORDER BY id FOR SHARE;"


def test_a_way_out_goes_only_where_more_happens_before_it(tmp_path: Path) -> None:
    body = "    IF a THEN\n        PERFORM x();\n        RETURN 'x';\n    END IF;\n    IF b THEN\n        RETURN 'y';\n    END IF;"
    assert [mutant.id for mutant in planted(tmp_path, body) if mutant.kind == "leave"] == [
        "planted:leave:9:1"
    ]
    loop = "    LOOP\n        EXIT WHEN a;\n        CONTINUE WHEN b;\n    END LOOP;"
    assert after(planted(tmp_path, loop), "when") == {"EXIT WHEN false;", "CONTINUE WHEN false;"}


def test_do_nothing_on_conflict_goes_and_the_index_it_infers_stays(tmp_path: Path) -> None:
    body = "    INSERT INTO outbox SELECT 1 ON CONFLICT (id) WHERE a AND b DO NOTHING;"
    found = planted(tmp_path, body)
    assert [mutant.kind for mutant in found] == ["conflict"]


def test_a_mutant_that_is_no_sql_is_a_mistake_of_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.mutate.mutants.edits", lambda _: [Edit("term", 0, 0, "BEGIN AND")])
    with pytest.raises(NotSql, match="planted:term"):
        planted(tmp_path, "    RETURN a;")


def test_ids_are_unique_and_stable() -> None:
    once = [mutant.id for path in FUNCTIONS for mutant in mutants_of(path)]
    assert len(set(once)) == len(once) > 900
    assert once == [mutant.id for path in FUNCTIONS for mutant in mutants_of(path)]


def test_every_mutant_that_is_explained_is_one() -> None:
    explained = re.findall(r"`(\w+:\w+:\d+:\d+)`", Path("docs/mutation.md").read_text())
    assert sorted(set(explained)) == sorted(explained)
    assert set(explained) <= {mutant.id for path in FUNCTIONS for mutant in mutants_of(path)}


async def test_the_server_takes_every_mutant(owner_connection: Connection) -> None:
    kinds: Counter[str] = Counter()
    for mutant in (mutant for path in FUNCTIONS for mutant in mutants_of(path)):
        await owner_connection.execute(mutant.sql)
        kinds[mutant.kind] += 1
    assert min(kinds.values()) >= 3, kinds


async def test_functions_tell_that_they_were_called_even_when_the_call_is_undone(
    owner_connection: Connection, database_urls: DatabaseUrls
) -> None:
    await owner_connection.execute(tracing_sql([read_function(path) for path in FUNCTIONS]))
    transaction = owner_connection.transaction()
    await transaction.start()
    await owner_connection.execute("SELECT boardreadyops_list_due('deadlines', 1)")
    await owner_connection.execute("SELECT boardreadyops_due_at(1, 'queued', 'waiting', now())")
    await transaction.rollback()
    marks = await owner_connection.fetch(
        "SELECT sequencename FROM pg_sequences WHERE schemaname = 'mutate' AND last_value IS NOT NULL ORDER BY 1"
    )
    assert [mark[0] for mark in marks] == ["due_at:0", "list_due:0", "list_due:1", "list_due:3"]


def test_the_functions_own_and_quickest_tests_come_first() -> None:
    called = {
        "tests/sql/test_a.py::slow": ["x:0"],
        "tests/sql/test_a.py::quick": ["x:0", "y:0"],
        "tests/sql/test_x.py::own": ["x:0"],
    }
    seconds = {
        "tests/sql/test_a.py::slow": 2.0,
        "tests/sql/test_a.py::quick": 1.0,
        "tests/sql/test_x.py::own": 9.0,
    }
    coverage = Coverage(blocks=called, seconds=seconds)
    assert coverage.of("x:0") == [
        "tests/sql/test_x.py::own",
        "tests/sql/test_a.py::quick",
        "tests/sql/test_a.py::slow",
    ]
    assert coverage.of("y:0") == ["tests/sql/test_a.py::quick"]


def test_a_result_stands_while_what_it_rests_on_does(tmp_path: Path) -> None:
    killed, alive = (Mutant(f"f:term:1:{n}", "f", "f:0", "term", f"sql {n}", "- a\n+ b") for n in (1, 2))
    tests, files = ["a.py::one", "b.py::two"], {"a.py": "1", "b.py": "2"}
    results = Results(tmp_path / "results.jsonl")
    results.add(Result(killed.id, killed.sha, "killed", "a.py::one", proof(["a.py::one"], files), 1.0))
    results.add(Result(alive.id, alive.sha, "survived", "", proof(tests, files), 1.0))
    again = Results(tmp_path / "results.jsonl")
    assert again.known(killed, tests, files | {"b.py": "3"}) is not None
    assert again.known(alive, tests, files | {"b.py": "3"}) is None
    assert again.known(alive, [*tests, "b.py::new"], files) is None
    assert again.known(Mutant(killed.id, "f", "f:0", "term", "other", ""), tests, files) is None
    both = [(mutant, result) for mutant in (killed, alive) if (result := again.known(mutant, tests, files))]
    told = report(both, frozenset({alive.id}))
    assert (told["kill_rate"], told["survivors"]) == (
        0.5,
        [{"id": alive.id, "explained": True, "diff": alive.diff}],
    )
    assert "f" in table(both)


def test_only_a_failed_test_is_a_kill() -> None:
    assert [outcome_of(code) for code in (0, 1, -1, 2, 3, 4, 5, 70, -9)] == [
        "survived",
        "killed",
        "timeout",
        *["broken"] * 6,
    ]


def test_a_block_is_what_runs_as_one(tmp_path: Path) -> None:
    body = """    a := GREATEST(b0, 1);
    IF b0 < 0 THEN
        a := CASE WHEN b1 < 1 THEN 1 ELSE 2 END;
    ELSIF b0 < 0 THEN
        PERFORM b2();
    ELSE
        FOR v_row IN SELECT * FROM b3 LIMIT 1 LOOP
            CONTINUE WHEN b4;
        END LOOP;
        PERFORM b5();
    END IF;
    PERFORM b6();"""
    found = planted(tmp_path, body.replace("a :=", "v_row.ref :="))
    assert len(found) > 10
    for mutant in found:
        assert f"b{mutant.block.removeprefix('planted:')}" in mutant.diff, mutant


def test_a_mutant_that_no_test_meets_survives_and_the_others_go_on(tmp_path: Path) -> None:
    (mutant, *_) = planted(tmp_path, "    PERFORM now();\n    RETURN 'x';")
    results, told = Results(tmp_path / "results.jsonl"), list[Result]()
    course = Course(Path.cwd(), tmp_path, tmp_path, Secret("postgresql://nobody"), 1)
    course.run([(mutant, []), (mutant, [])], Coverage(), results, told.append)
    assert [(result.outcome, result.killer) for result in told] == [("survived", "")] * 2
