from __future__ import annotations

import json
from pathlib import Path

import pytest

from boardreadyops.cli.main import main
from boardreadyops.db.migrations import own_migrations
from boardreadyops.db.roles import APP


def run(*arguments: str) -> int:
    return main(["migrate", *arguments])


def test_migrate_brings_the_embedded_database_up_to_date_once(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(data_dir))
    versions = [migration.version for migration in own_migrations()]
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out) == {"applied": versions, "version": versions[-1]}
    assert run() == 0
    assert capsys.readouterr().out == f"nothing to do; the database is at {versions[-1]}\n"


@pytest.mark.parametrize(
    ("name", "value", "exit_code", "line"),
    [
        ("DATABASE_URL", "mysql://h/d", 2, "DATABASE_URL is not a postgresql:// URL"),
        ("DATABASE_URL", "postgresql://u:hunter2@127.0.0.1:1/d", 3, "the database cannot be used now"),
        ("DATABASE_URL", f"postgresql://{APP}:hunter2@127.0.0.1:1/d", 2, "cannot migrate"),
        ("DATA_DIR", "/dev/null/inner", 3, "cannot be used"),
    ],
)
def test_what_stops_migrate_is_one_line_and_an_exit_code(
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: str,
    exit_code: int,
    line: str,
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(data_dir))
    monkeypatch.setenv(f"BOARDREADYOPS_{name}", value)
    assert run() == exit_code
    complaint = capsys.readouterr().err
    assert line in complaint
    assert complaint.count("\n") == 1
    assert "hunter2" not in complaint
