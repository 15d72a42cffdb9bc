"""Signs of life."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from boardreadyops.agent.heartbeat import Heartbeat
from boardreadyops.agent.server import LeaseGranted, RunnerServer
from boardreadyops.runner.protocol import LeaseAnswer
from tests.agent.conftest import ScriptedServer, cut, lease_document, problem


@pytest.fixture
async def connection(server: ScriptedServer) -> AsyncIterator[RunnerServer]:
    async with RunnerServer(server.url) as opened:
        yield opened


def heart(server: ScriptedServer, connection: RunnerServer, **changes: Any) -> Heartbeat:
    lease = LeaseAnswer.model_validate(lease_document(server, **changes))
    return Heartbeat(connection, LeaseGranted(lease, time.monotonic()))


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_server_that_does_not_know_the_lease_ends_it(
    status: int, server: ScriptedServer, connection: RunnerServer
) -> None:
    server.order("heartbeat", problem(status, "unknown_token"))
    over = await asyncio.wait_for(heart(server, connection).run(), 10)
    assert over.state == "unknown"
    assert "unknown_token" in over.detail


async def test_a_beat_that_was_not_answered_is_repeated_before_the_next_is_due(
    server: ScriptedServer, connection: RunnerServer
) -> None:
    server.order("heartbeat", cut, problem(503), problem(429))
    beating = asyncio.create_task(heart(server, connection, heartbeat_seconds=3_600.0).run())
    await server.until(lambda: len(server.heartbeats) == 4)
    beating.cancel()
    await asyncio.wait({beating})


async def test_a_new_stage_is_told_at_once_and_an_earlier_one_never(
    server: ScriptedServer, connection: RunnerServer
) -> None:
    heartbeat = heart(server, connection, heartbeat_seconds=3_600.0)
    beating = asyncio.create_task(heartbeat.run())
    for stage in ("running", "preparing_source", "reporting"):
        await heartbeat.announce(stage)
    assert [beat["stage"] for beat in server.heartbeats if beat["stage"] != "claimed"] == [
        "running",
        "reporting",
    ]
    beating.cancel()
    await asyncio.wait({beating})


async def test_the_deadline_counts_from_the_sending_of_the_request(
    server: ScriptedServer, connection: RunnerServer
) -> None:
    heartbeat = heart(server, connection)
    before = time.monotonic()
    beating = asyncio.create_task(heartbeat.run())
    await heartbeat.announce("running")
    assert before + server.lease_seconds <= heartbeat.deadline <= time.monotonic() + server.lease_seconds
    beating.cancel()
    await asyncio.wait({beating})
