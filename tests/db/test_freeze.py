from __future__ import annotations

import re
from pathlib import Path

import pytest

from boardreadyops.db.freeze import OWN_SQL, freeze, main

ANSWER = "-- the answer\nCREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS 'SELECT 42';\n"
FENCE = "--! begin functions/answer.sql\n{}--! end\n"


@pytest.fixture
def sql(tmp_path: Path) -> Path:
    """One function, one migration with an empty fence for it, and a lock that leaves all open."""
    (tmp_path / "functions").mkdir()
    (tmp_path / "migrations").mkdir()
    (tmp_path / "functions" / "answer.sql").write_text(ANSWER)
    (tmp_path / "migrations" / "0005_first.sql").write_text("CREATE TABLE t ();\n" + FENCE.format(""))
    (tmp_path / "migrations.lock").write_text("# open from 0005\n")
    return tmp_path


def run(sql: Path, *options: str) -> int:
    return main(["--sql", str(sql), *options])


def make_history(sql: Path) -> None:
    """Freeze, then close everything that there is."""
    assert run(sql) == 0
    lock = sql / "migrations.lock"
    lock.write_text(lock.read_text().replace("# open from 0005\n", ""))
    assert run(sql, "--check") == 0


def test_fences_are_filled_and_hashes_written_once(sql: Path) -> None:
    assert run(sql, "--check") == 1
    assert run(sql) == 0
    text = (sql / "migrations" / "0005_first.sql").read_text()
    assert text == "CREATE TABLE t ();\n" + FENCE.format(ANSWER)
    assert re.search(r"^0005_first\.sql [0-9a-f]{64}$", (sql / "migrations.lock").read_text(), re.MULTILINE)
    assert run(sql, "--check") == 0
    assert freeze(sql).differing() == []


def test_check_changes_nothing(sql: Path) -> None:
    before = {path: path.read_bytes() for path in sql.rglob("*.*")}
    assert run(sql, "--check") == 1
    assert {path: path.read_bytes() for path in sql.rglob("*.*")} == before


def test_an_open_migration_follows_its_function_file(sql: Path) -> None:
    assert run(sql) == 0
    (sql / "functions" / "answer.sql").write_text(ANSWER.replace("42", "43"))
    assert run(sql, "--check") == 1
    assert run(sql) == 0
    assert "43" in (sql / "migrations" / "0005_first.sql").read_text()


def test_the_line_that_keeps_migrations_open_survives(sql: Path) -> None:
    assert run(sql) == 0
    assert "# open from 0005\n" in (sql / "migrations.lock").read_text()


def test_history_that_was_edited_is_refused(sql: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_history(sql)
    with (sql / "migrations" / "0005_first.sql").open("a") as file:
        file.write("-- just once\n")
    for options in ([], ["--check"]):
        assert run(sql, *options) == 1
        assert "0005_first.sql is history and was changed" in capsys.readouterr().err


def test_a_changed_function_needs_a_new_migration_once_its_own_is_history(
    sql: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_history(sql)
    history = (sql / "migrations" / "0005_first.sql").read_text()
    (sql / "functions" / "answer.sql").write_text(ANSWER.replace("42", "43"))
    assert run(sql) == 1
    assert "functions/answer.sql differs from its fence in 0005_first.sql" in capsys.readouterr().err
    (sql / "migrations" / "0006_again.sql").write_text(FENCE.format(""))
    assert run(sql) == 0
    assert "43" in (sql / "migrations" / "0006_again.sql").read_text()
    assert (sql / "migrations" / "0005_first.sql").read_text() == history
    assert run(sql, "--check") == 0


def test_a_new_migration_is_locked_as_soon_as_it_is_frozen(sql: Path) -> None:
    make_history(sql)
    (sql / "migrations" / "0006_more.sql").write_text("SELECT 1;\n")
    assert run(sql, "--check") == 1
    assert run(sql) == 0
    (sql / "migrations" / "0006_more.sql").write_text("SELECT 2;\n")
    assert run(sql) == 1


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("functions/lonely.sql", "SELECT 1;\n", "functions/lonely.sql is in no migration's fence"),
        (
            "migrations/0006_x.sql",
            FENCE.replace("answer", "gone").format(""),
            "functions/gone.sql, which is missing",
        ),
        ("migrations/0006_x.sql", "--! begin functions/answer.sql\n", "mark outside a complete fence"),
        ("migrations/0006_x.sql", "--! end\n", "mark outside a complete fence"),
        ("migrations/0006_x.sql", "--! begin answer\n--! end\n", "mark outside a complete fence"),
        ("migrations/0006_x.sql", FENCE.format("") * 2, "two fences for functions/answer.sql"),
        ("migrations/0007_x.sql", "SELECT 1;\n", "numbers go up by one"),
        ("migrations.lock", "0004_before.sql " + "0" * 64 + "\n", "0004_before.sql is locked but missing"),
        ("migrations.lock", "0005_first.sql abc\n", "a line that is no lock"),
    ],
)
def test_planted_mistakes_are_caught(
    sql: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, complaint: str
) -> None:
    (sql / file).write_text(text)
    assert run(sql, "--check") == 1
    assert complaint in capsys.readouterr().err
    assert run(sql) == 1


def test_our_own_migrations_are_frozen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err
    assert OWN_SQL.name == "sql"
