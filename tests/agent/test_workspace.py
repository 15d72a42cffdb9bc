"""A folder per lease, gone afterwards."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from boardreadyops.agent.workspace import private_workspace, remove_abandoned


def test_a_workspace_is_private_empty_and_gone_afterwards(tmp_path: Path) -> None:
    with private_workspace(tmp_path / "work") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list(folder.iterdir()) == []
        (folder / "deep" / "er").mkdir(parents=True)
    assert list((tmp_path / "work").iterdir()) == []


def test_a_workspace_is_gone_after_an_error(tmp_path: Path) -> None:
    def work() -> None:
        with private_workspace(tmp_path) as folder:
            (folder / "file").touch()
            raise LookupError

    with pytest.raises(LookupError):
        work()
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_in_use_is_not_taken_for_abandoned(tmp_path: Path) -> None:
    with private_workspace(tmp_path) as folder:
        assert remove_abandoned(tmp_path) == 0
        assert folder.is_dir()


def test_what_a_killed_runner_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from boardreadyops.agent.workspace import private_workspace\n"
        "with private_workspace(Path(sys.argv[1])): print('ready', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()
    (tmp_path / "kept").mkdir()
    assert remove_abandoned(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
