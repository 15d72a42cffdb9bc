"""`boardreadyops verify transition-writers`: what it answers, and that it reads the package it is installed with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boardreadyops.cli.main import main
from boardreadyops.db.gate.finding import INSTALLED
from tests.conftest import DatabaseUrls

OFFLINE_SECONDS = 10.0


def run(*arguments: str) -> int:
    return main(["verify", "transition-writers", *arguments])


def test_this_tree_is_clean_and_soon_read(capsys: pytest.CaptureFixture[str]) -> None:
    started = time.monotonic()
    exit_code = run("--offline")
    assert (exit_code, capsys.readouterr().out.count("\n")) == (0, 1)
    assert time.monotonic() - started < OFFLINE_SECONDS


def test_the_configured_database_is_read_too(
    database_urls: DatabaseUrls,
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(data_dir))
    monkeypatch.setenv("BOARDREADYOPS_SECRET_KEY", database_urls.secret_key.reveal())
    monkeypatch.setenv("BOARDREADYOPS_DATABASE_URL", database_urls.owner.reveal())
    exit_code = run("--json")
    assert (exit_code, json.loads(capsys.readouterr().out)) == (0, {"findings": [], "database": True})


def test_a_fresh_database_is_made_for_it_and_thrown_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--fresh") == 0
    assert "and the database" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "value", "exit_code"),
    [
        ("DATABASE_URL", "mysql://h/d", 2),
        ("DATABASE_URL", "postgresql://u:hunter2@127.0.0.1:1/d", 3),
        ("DATA_DIR", "/dev/null/inner", 3),
    ],
)
def test_what_stops_it_is_one_line_and_an_exit_code(
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: str,
    exit_code: int,
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(data_dir))
    monkeypatch.setenv(f"BOARDREADYOPS_{name}", value)
    assert run() == exit_code
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "hunter2" not in complaint


def test_a_wrong_argument_is_a_matter_of_usage() -> None:
    with pytest.raises(SystemExit) as left:
        run("--offline", "--fresh")
    assert left.value.code == 2


def test_an_installed_package_is_read_where_it_lies(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "vendored", "static", "boards")
    shutil.copytree(INSTALLED, tmp_path / "boardreadyops", ignore=ignored)
    (tmp_path / "boardreadyops/worker/planted.py").write_text('q = "DELETE FROM refs"\n')
    command = [sys.executable, "-m", "boardreadyops", "verify", "transition-writers", "--offline", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == 1, done.stderr
    assert ("boardreadyops/worker/planted.py", 1, "direct_writer") in {
        (finding["path"], finding["line"], finding["rule"]) for finding in found
    }
