"""The whole system as a newcomer sees it: `boardreadyops demo --exit` in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from boardreadyops.demo.story import STORY
from boardreadyops.kicad.probe import KicadCli

DEMO_SECONDS = 120
NO_KICAD = ("--kicad-cli", "/nonexistent/kicad-cli")


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "boardreadyops", "demo", "--exit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEMO_SECONDS,
        env={**os.environ, "COLUMNS": "200"},
    )


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def assert_told(told: subprocess.CompletedProcess[str]) -> None:
    assert told.returncode == 0, told.stdout + told.stderr
    assert re.match(r"BoardReadyOps demo: http://127\.0\.0\.1:\d+/\n", told.stdout)
    assert told.stdout.count("●") == len(STORY)


@pytest.mark.kicad
def test_the_story_holds_with_the_installed_kicad_cli(kicad_cli: KicadCli) -> None:
    told = demo("--port", "0", "--kicad-cli", str(kicad_cli.path))
    assert_told(told)
    assert "checked by kicad-cli on this machine" in told.stdout


def test_without_kicad_cli_recorded_reports_are_replayed_and_it_says_so(taken_port: int) -> None:
    told = demo("--port", str(taken_port), *NO_KICAD)
    assert_told(told)
    assert f":{taken_port}/" not in told.stdout
    assert "kicad-cli is not at /nonexistent/kicad-cli" in told.stdout
    assert "The runner replays reports" in told.stdout
    assert told.stdout.rstrip().splitlines()[-2].endswith("replayed from recorded reports.")


def test_a_step_that_does_not_hold_is_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    broken = tmp_path / "kicad-cli"
    broken.write_text('#!/bin/sh\n[ "$1" = version ] && echo 9.0.8 || exit 3\n')
    broken.chmod(0o755)
    told = demo("--port", "0", "--kicad-cli", str(broken))
    assert told.returncode == 1
    assert "■ failed at step 8 of 13: board fails: the board was not judged: Could not check" in told.stdout
    assert "runner.log:" in told.stderr


def test_without_git_it_does_not_start_and_says_so(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "boardreadyops", "demo"],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEMO_SECONDS,
        env={**os.environ, "PATH": str(tmp_path)},
    )
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr == (
        "boardreadyops: the demo could not start: git is not on PATH: install git 2.31 or newer\n"
    )


@pytest.mark.parametrize("line", ["BoardReadyOps demo", "GitHub shows the check"])
def test_ctrl_c_ends_the_story_at_once_and_leaves_nothing(line: str, data_dir: Path) -> None:
    data_dir.chmod(0o711)  # the database's own user passes through
    before: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", "boardreadyops", "demo", "--port", "0", *NO_KICAD],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "200", "TMPDIR": str(data_dir)},
    ) as process:
        assert process.stdout is not None
        for said in process.stdout:
            before.append(said)
            if line in said:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stdout.read()
    assert process.returncode == 130, "".join(before) + rest
    assert re.search(rf"stopped after \d+ of {len(STORY)} steps\n$", rest)
    assert list(data_dir.iterdir()) == []
