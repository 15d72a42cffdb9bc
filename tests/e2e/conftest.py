"""One system for many tests, each with an installation of its own; tests that break the system open their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.programs import Pipe
from tests.e2e.system import System, Tenant, open_system


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_system() -> AsyncIterator[System]:
    async with open_system() as system:
        yield system


@pytest_asyncio.fixture(loop_scope="session")
async def tenant(shared_system: System) -> AsyncIterator[Tenant]:
    """An installation that nobody else has; the server must have broken nowhere in the meantime."""
    yield await shared_system.tenant()
    assert shared_system.github.violations == []
    assert "Traceback" not in shared_system.server.text


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    found = Pipe(tmp_path / "pipe")
    yield found
    found.close()
