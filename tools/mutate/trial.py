"""One mutant, one child process: the tests that call its function, until the first that fails."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import Phase, settings

Outcome = Literal["killed", "survived", "timeout", "broken"]
_QUIET = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", "-W", "ignore"]
POLL_SECONDS = 0.02


@dataclass(slots=True)
class Trial:
    """A running child; it ends by itself or is killed at `deadline`, a monotonic time in seconds."""

    pid: int
    began: float
    deadline: float
    log: Path

    def ended(self) -> int | None:
        """Its exit status, -1 when its time is over, None while it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() < self.deadline:
            return None
        self.kill()
        return -1

    def kill(self) -> None:
        """End it now."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def begin(
    tests: Sequence[str],
    environment: dict[str, str],
    log: Path,
    seconds: float,
    plugins: Callable[[], list[object]],
) -> Trial:
    """Fork: everything that tests import is imported already."""
    sys.stdout.flush()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _child(tests, environment, log, plugins)
    return Trial(pid, began, began + seconds, log)


def _child(
    tests: Sequence[str], environment: dict[str, str], log: Path, plugins: Callable[[], list[object]]
) -> None:
    code = 70
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.environ.update(environment)
        code = int(pytest.main([*_QUIET, *tests], plugins=plugins()))
        sys.stdout.flush()
    finally:
        os._exit(code)


def outcome_of(code: int) -> Outcome:
    """What an exit status says: 1 is pytest's word for failed tests, anything unknown is no kill."""
    known: dict[int, Outcome] = {0: "survived", 1: "killed", -1: "timeout"}
    return known.get(code, "broken")


class Unshrunk:
    """A pytest plugin: the first failing history is enough, nobody asks for the shortest."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave shrinking out of every profile that a test module names."""
        for module in {item.module for item in items if isinstance(item, pytest.Function)}:
            profile = getattr(module, "PROFILE", None)
            if isinstance(profile, settings):
                module.PROFILE = settings(profile, phases=(Phase.explicit, Phase.generate))


class Killer:
    """A pytest plugin: it names the test that killed the mutant."""

    def __init__(self, told: Path) -> None:
        self._told = told

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A failed setup is a failed test."""
        if report.failed:
            self._told.write_text(report.nodeid)
