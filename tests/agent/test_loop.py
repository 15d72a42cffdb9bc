"""Claiming leases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from boardreadyops.agent import loop
from boardreadyops.agent.execution import Settled
from boardreadyops.agent.server import Denied, NothingToDo, RunnerServer, Unavailable
from boardreadyops.config import Secret
from boardreadyops.kicad.runner import KicadRunner
from boardreadyops.runner.protocol import RegistrationAnswer, RegistrationRequest
from tests.agent.conftest import (
    AskedKicad,
    Crew,
    GitSource,
    ScriptedServer,
    cut,
    lease_document,
    problem,
)

Hire = Callable[[KicadRunner], Crew]


async def test_once_without_work_says_so(server: ScriptedServer, crew: Hire) -> None:
    assert await crew(AskedKicad()).agent.once() == NothingToDo()
    assert server.claims[0]["capabilities"] == ["kicad=9.0.8"]


async def test_a_lost_answer_to_a_claim_is_asked_for_again_under_the_same_id(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    lease = lease_document(server, source)
    server.order("claim", cut, problem(503), lambda _: JSONResponse(lease, 200))
    agent = crew(AskedKicad()).agent
    assert isinstance(await agent.once(), Settled)
    assert len(server.claims) == 3
    assert len({claim["request_id"] for claim in server.claims}) == 1
    await agent.once()
    assert server.claims[3]["request_id"] != server.claims[0]["request_id"]


async def test_a_claim_whose_lease_has_ended_is_asked_anew(server: ScriptedServer, crew: Hire) -> None:
    server.order("claim", problem(409, "lease_ended"))
    assert await crew(AskedKicad()).agent.once() == NothingToDo()
    assert server.claims[0]["request_id"] != server.claims[1]["request_id"]


async def test_a_revoked_runner_stops_asking(server: ScriptedServer, crew: Hire) -> None:
    server.order("claim", problem(401, "revoked"))
    denied = await crew(AskedKicad()).agent.run()
    assert isinstance(denied, Denied)
    assert (denied.status, denied.detail) == (401, "Not now. (revoked)")
    assert len(server.claims) == 1


async def test_a_lease_that_cannot_be_read_is_no_lease(
    server: ScriptedServer, crew: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "ONCE_PATIENCE_SECONDS", 0.0)
    server.order("claim", lambda _: JSONResponse({"lease_id": "x"}, 201))
    ended = await crew(AskedKicad()).agent.once()
    assert isinstance(ended, Unavailable)
    assert "lease_id" in ended.detail


async def test_an_answer_without_end_is_given_up(
    server: ScriptedServer, crew: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "ONCE_PATIENCE_SECONDS", 0.0)
    server.order("claim", lambda _: Response(b" " * 2_000_000))
    ended = await crew(AskedKicad()).agent.once()
    assert ended == Unavailable("the server's answer is too large")


async def test_a_redirect_is_not_followed(server: ScriptedServer, crew: Hire) -> None:
    def elsewhere(_: Request) -> Response:
        return Response(status_code=307, headers={"location": f"{server.url}/runner/v1/leases"})

    server.order("claim", elsewhere)
    denied = await crew(AskedKicad()).agent.once()
    assert isinstance(denied, Denied)
    assert denied.status == 307
    assert len(server.claims) == 1


async def test_run_takes_lease_after_lease_and_waits_for_them(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    leases = [lease_document(server, source), lease_document(server, source)]
    server.order("claim", *[lambda _, lease=lease: JSONResponse(lease, 201) for lease in leases])
    working = asyncio.create_task(crew(AskedKicad()).agent.run())
    await server.until(lambda: len(server.results) == 2 and len(server.claims) >= 3)
    working.cancel()
    await asyncio.wait({working})
    assert all(claim["wait_seconds"] == loop.CLAIM_WAIT_SECONDS for claim in server.claims)


async def test_a_wait_that_ate_the_lease_is_made_good_by_the_first_heartbeat(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.lease = lease_document(server, source, expires_in_seconds=0)
    settled = await crew(AskedKicad()).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == "accepted"


async def test_registering_gives_the_runners_own_token(server: ScriptedServer) -> None:
    request = RegistrationRequest(enrollment_token=Secret("bre_x"), name="bench-1", version="1")
    answer = {"registration_id": "6fce774c-1426-4d9b-b554-e6d63b5b1e4d", "token": "brr_y"}
    server.order("registrations", lambda _: JSONResponse(answer, 201), problem(403, "enrollment_refused"))
    async with RunnerServer(server.url + "/") as connection:
        registered = await connection.register(request)
        again = await connection.register(request)
    assert isinstance(registered, RegistrationAnswer)
    assert registered.token == Secret("brr_y")
    assert isinstance(again, Denied)
