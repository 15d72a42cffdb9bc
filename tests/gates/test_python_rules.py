"""Each rule on Python text: what it must catch, and what it must leave alone."""

from collections.abc import Callable, Iterator

import pytest

from gates import environment, excepts, pure, sleeps
from gates.tree import Finding, Tree

Gate = Callable[[Tree], Iterator[Finding]]
DB = "boardreadyops/db/runs.py"
DOMAIN = "boardreadyops/domain/lifecycle.py"
TEST = "tests/db/test_runs.py"

CAUGHT: list[tuple[Gate, str, str]] = [
    (sleeps.check, TEST, "import time; time.sleep(1)"),
    (sleeps.check, TEST, "async def test_x(): await asyncio.sleep(0)"),
    (sleeps.check, TEST, "from time import sleep; sleep(1)"),
    (sleeps.check, TEST, "page.wait_for_timeout(100)"),
    (sleeps.check, TEST, 'slow = "SELECT pg_sleep(1)"'),
    (pure.check, DOMAIN, "from datetime import datetime; now = datetime.now()"),
    (pure.check, DOMAIN, "import datetime; today = datetime.date.today()"),
    (pure.check, DOMAIN, "from time import monotonic"),
    (pure.check, DOMAIN, "import socket"),
    (pure.check, DOMAIN, "import httpx"),
    (pure.check, DOMAIN, "from boardreadyops.config import Settings"),
    (pure.check, "boardreadyops/github/webhooks.py", "import time; now = time.time()"),
    (environment.check, DB, "import os; url = os.environ['X']"),
    (environment.check, DB, "import os; url = os.getenv('X')"),
    (environment.check, DB, "from os import environ"),
    (excepts.check, DB, "try: f()\nexcept: pass"),
    (excepts.check, DB, "try: f()\nexcept Exception as e: log(e)"),
    (excepts.check, DB, "try: f()\nexcept (ValueError, BaseException): g()"),
    (excepts.check, DB, "try: f()\nexcept Exception:\n    if late: raise\n    g()"),
    (excepts.check, TEST, "with contextlib.suppress(Exception): f()"),
]

LEFT_ALONE: list[tuple[Gate, str, str]] = [
    (sleeps.check, TEST, "async def test_x(): await asyncio.wait_for(seen.wait(), timeout=5)"),
    (sleeps.check, "boardreadyops/worker/ticker.py", "async def f(): await asyncio.sleep(1)"),
    (pure.check, DOMAIN, "from datetime import datetime, timedelta\nfrom enum import StrEnum"),
    (pure.check, DOMAIN, "from boardreadyops.domain.identity import Ref"),
    (pure.check, "boardreadyops/github/client.py", "import time; now = time.time()"),
    (environment.check, "boardreadyops/config.py", "import os; url = os.environ['X']"),
    (environment.check, TEST, "import os; url = os.environ['X']"),
    (excepts.check, DB, "try: f()\nexcept ValueError: pass"),
    (excepts.check, DB, "try: f()\nexcept BaseException:\n    g()\n    raise"),
]


@pytest.mark.parametrize(("gate", "path", "text"), CAUGHT)
def test_a_planted_violation_is_found_where_it_stands(
    plant: Callable[[dict[str, str]], Tree], gate: Gate, path: str, text: str
) -> None:
    findings = list(gate(plant({path: f"{text}\n"})))
    assert len(findings) >= 1
    assert {finding.path for finding in findings} == {path}
    assert all(finding.line >= 1 and finding.message for finding in findings)


@pytest.mark.parametrize(("gate", "path", "text"), LEFT_ALONE)
def test_an_honest_line_is_left_alone(
    plant: Callable[[dict[str, str]], Tree], gate: Gate, path: str, text: str
) -> None:
    assert list(gate(plant({path: f"{text}\n"}))) == []
