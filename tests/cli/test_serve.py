"""`boardreadyops serve` as a command; what it serves is tested elsewhere."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from boardreadyops import serve
from boardreadyops.cli.main import main
from boardreadyops.config import Settings


@pytest.mark.parametrize(("arguments", "with_worker"), [([], True), (["--no-worker"], False)])
def test_the_worker_can_be_left_out(
    arguments: list[str], with_worker: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[Path, bool]] = []

    def run(settings: Settings, *, with_worker: bool) -> None:
        asked.append((settings.data_dir, with_worker))

    monkeypatch.setattr(serve, "run", run)
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(tmp_path))
    assert main(["serve", *arguments]) == 0
    assert asked == [(tmp_path, with_worker)]


def test_a_bad_setting_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_PORT", "eighty")
    assert main(["serve"]) == 2
    assert capsys.readouterr().err.startswith("boardreadyops: BOARDREADYOPS_PORT is 'eighty'")


def test_a_taken_port_is_one_line_and_exit_code_3(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = {
            "BOARDREADYOPS_DATA_DIR": str(data_dir),
            "BOARDREADYOPS_PORT": str(taken.getsockname()[1]),
        }
        done = subprocess.run(
            [sys.executable, "-m", "boardreadyops", "serve"],
            env=dict(os.environ) | settings,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("boardreadyops: ")
    assert done.stderr.count("\n") == 1
