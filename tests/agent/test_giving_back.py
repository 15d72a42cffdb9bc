"""A lease that this runner cannot finish goes back, with the reason, and after the work has ended."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from boardreadyops.agent import execution, giving_back
from boardreadyops.agent.execution import Settled
from boardreadyops.kicad.outcome import CouldNotReason
from boardreadyops.kicad.probe import Unavailable
from boardreadyops.kicad.runner import KicadRunner, MissingKicad
from tests.agent.conftest import (
    AskedKicad,
    Crew,
    GitSource,
    ScriptedServer,
    cut,
    lease_document,
    problem,
)
from tests.agent.test_execution import no_workspace_is_left

Hire = Callable[[KicadRunner], Crew]
MISSING = MissingKicad(Unavailable(CouldNotReason.MISSING_TOOL, "kicad-cli was not found"))


async def hung_work(server: ScriptedServer, source: GitSource, crew: Hire) -> asyncio.Task[object]:
    """An agent whose kicad-cli never ends, at the time it has begun."""
    server.source_token = source.token
    server.lease = lease_document(server, source)
    kicad = AskedKicad(lambda: asyncio.Event().wait())
    working: asyncio.Task[object] = asyncio.create_task(crew(kicad).agent.once())
    await asyncio.wait_for(kicad.asked.wait(), 20)
    return working


async def test_a_runner_that_is_stopped_gives_its_lease_back_and_cleans_up(
    server: ScriptedServer, source: GitSource, crew: Hire, tmp_path: Path
) -> None:
    def clean(_: Request) -> Response:
        assert no_workspace_is_left(tmp_path)
        return JSONResponse({"outcome": "accepted"})

    working = await hung_work(server, source, crew)
    server.order("relinquish", clean)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert [(one["reason"], one["needs"]) for one in server.given_back] == [("shutdown", [])]
    assert server.results == []
    assert no_workspace_is_left(tmp_path)


async def test_giving_back_is_tried_again_and_then_given_up(
    server: ScriptedServer, source: GitSource, crew: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(giving_back, "GIVE_BACK_SECONDS", 2.0)
    working = await hung_work(server, source, crew)
    server.order("relinquish", cut, problem(503), *[cut] * 1_000)
    stopped_at = time.monotonic()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert len(server.given_back) >= 2
    assert time.monotonic() - stopped_at < 4


async def test_a_result_that_is_ready_still_travels_when_the_runner_is_stopped(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.lease = lease_document(server, source)
    server.order("result", problem(503))
    working = asyncio.create_task(crew(AskedKicad()).agent.once())
    await server.until(lambda: len(server.results) == 1)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert len(server.results) == 2


async def test_a_result_that_does_not_arrive_in_time_is_given_up_for_the_lease(
    server: ScriptedServer, source: GitSource, crew: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "LAST_REPORT_SECONDS", 0.1)
    server.source_token = source.token
    server.lease = lease_document(server, source)
    server.order("result", *[problem(503)] * 1_000)
    working = asyncio.create_task(crew(AskedKicad()).agent.once())
    await server.until(lambda: len(server.results) == 1)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert [one["reason"] for one in server.given_back] == ["shutdown"]


async def test_without_kicad_the_run_is_left_to_a_runner_that_has_it(
    server: ScriptedServer, crew: Hire
) -> None:
    server.lease = lease_document(server)
    settled = await crew(MISSING).agent.once()
    assert settled == Settled("given_back", "given back: kicad-cli was not found")
    (told,) = server.given_back
    assert told == {"reason": "capability", "message": "kicad-cli was not found", "needs": ["kicad>=8"]}
    assert server.results == []


async def test_an_unexpected_error_is_told_by_its_class_alone(
    server: ScriptedServer, source: GitSource, crew: Hire, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    def break_down() -> None:
        raise LookupError("a secret of this machine")

    server.source_token = source.token
    server.lease = lease_document(server, source)
    with caplog.at_level(logging.ERROR):
        settled = await crew(AskedKicad(break_down)).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == "given_back"
    (told,) = server.given_back
    assert (told["reason"], told["needs"]) == ("job_error", [])
    assert "LookupError" in told["message"]
    assert "secret" not in told["message"]
    assert "a secret of this machine" in caplog.text
    assert server.results == []
    assert no_workspace_is_left(tmp_path)


async def test_a_full_disk_is_a_want_of_capacity(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    def fill_up() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    server.source_token = source.token
    server.lease = lease_document(server, source)
    await crew(AskedKicad(fill_up)).agent.once()
    assert [(one["reason"], one["message"]) for one in server.given_back] == [
        ("capacity", "the runner's disk is full")
    ]


async def test_what_becomes_of_a_lease_that_goes_back_is_the_servers_word(
    server: ScriptedServer, crew: Hire
) -> None:
    outcomes = []
    for answer in (
        lambda _: JSONResponse({"outcome": "replayed"}),
        lambda _: JSONResponse({"outcome": "stale"}),
        problem(401, "unknown_token"),
    ):
        server.lease = lease_document(server)
        server.order("relinquish", answer)
        settled = await crew(MISSING).agent.once()
        assert isinstance(settled, Settled)
        outcomes.append(settled.outcome)
    assert outcomes == ["given_back", "lease_over", "undelivered"]
