from __future__ import annotations

from pathlib import Path

import pytest

from boardreadyops.db.snapshot import main


def test_a_snapshot_is_the_same_every_time_and_check_shows_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "0001_first.sql").write_text("CREATE TABLE first (x int);\n")
    assert main(["--sql", str(tmp_path), "--check"]) == 1
    assert main(["--sql", str(tmp_path)]) == 0
    text = (tmp_path / "schema.sql").read_text()
    assert "CREATE TABLE public.first" in text
    assert "restrict" not in text
    assert "Dumped" not in text
    assert main(["--sql", str(tmp_path), "--check"]) == 0
    (tmp_path / "schema.sql").write_text(text.replace("x integer", "x text"))
    capsys.readouterr()
    assert main(["--sql", str(tmp_path), "--check"]) == 1
    assert "+    x integer" in capsys.readouterr().err


def test_our_own_snapshot_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err
