"""One lease: work, heartbeat, report, and everything that can come between."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from boardreadyops.agent.execution import Settled
from boardreadyops.kicad.probe import KicadCli
from boardreadyops.kicad.runner import InstalledKicad, KicadRunner
from tests.agent.conftest import (
    LEASE_TOKEN,
    REGISTRATION_TOKEN,
    Answer,
    AskedKicad,
    Crew,
    GitSource,
    ScriptedServer,
    cut,
    lease_document,
    problem,
)

Hire = Callable[[KicadRunner], Crew]


def no_workspace_is_left(folder: Path) -> bool:
    return not list(folder.glob("work/lease-*"))


async def test_a_clean_board_is_fetched_checked_and_reported(
    server: ScriptedServer, source: GitSource, crew: Hire, tmp_path: Path
) -> None:
    server.source_token = source.token
    server.lease = lease = lease_document(server, source)
    settled = await crew(AskedKicad()).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == "accepted"
    assert (server.result["status"], server.result["decision"]) == ("completed", "pass")
    for name in ("release_run_id", "execution_attempt_id", "retry_id"):
        assert server.result[name] == lease[name]
    assert server.result["tool_versions"] == {"kicad-cli": "9.0.8"}
    assert no_workspace_is_left(tmp_path)


async def test_the_server_sees_the_stages_in_their_order(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.lease = lease_document(server, source)
    await crew(AskedKicad()).agent.once()
    seen = list(dict.fromkeys(beat["stage"] for beat in server.heartbeats))
    assert [stage for stage in seen if stage != "claimed"] == ["preparing_source", "running", "reporting"]


async def test_a_commit_that_is_gone_is_no_failure_of_the_board(
    server: ScriptedServer, source: GitSource, crew: Hire, tmp_path: Path
) -> None:
    server.source_token = source.token
    server.lease = lease_document(server, source, commit_sha="d" * 40)
    await crew(AskedKicad()).agent.once()
    assert (server.result["status"], server.result["decision"]) == ("failed", "error")
    assert "no longer there" in server.result["summary"]
    assert no_workspace_is_left(tmp_path)


@pytest.mark.parametrize("answer", [problem(403), problem(409), problem(503, "github_not_configured")])
async def test_without_a_source_token_the_board_could_not_be_checked(
    answer: Answer, server: ScriptedServer, crew: Hire
) -> None:
    server.order("source-token", answer)
    server.lease = lease_document(server)
    await crew(AskedKicad()).agent.once()
    assert (server.result["status"], server.result["decision"]) == ("failed", "error")
    assert "token" in server.result["summary"]


async def test_a_source_token_that_comes_later_is_waited_for(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.order("source-token", problem(503), cut)
    server.lease = lease_document(server, source)
    await crew(AskedKicad()).agent.once()
    assert server.result["decision"] == "pass"


async def test_a_result_is_sent_again_with_the_same_bytes_until_it_is_answered(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.order("result", cut, problem(503), problem(429))
    server.lease = lease_document(server, source)
    settled = await crew(AskedKicad()).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == "accepted"
    assert len(server.results) == 4
    assert len(set(server.results)) == 1


@pytest.mark.parametrize(("status", "outcome"), [(202, "late"), (409, "conflict"), (404, "not_found")])
async def test_what_becomes_of_a_result_is_the_servers_word(
    status: int, outcome: str, server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.order("result", lambda _: JSONResponse({"outcome": outcome, "audit_id": 5}, status))
    server.lease = lease_document(server, source)
    settled = await crew(AskedKicad()).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == outcome


async def test_a_refused_result_is_not_sent_again(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    server.source_token = source.token
    server.order("result", problem(422, "invalid_request"))
    server.lease = lease_document(server, source)
    settled = await crew(AskedKicad()).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == "refused"
    assert len(server.results) == 1


async def test_a_heartbeat_that_says_stop_stops_the_work_and_nothing_is_reported(
    server: ScriptedServer, source: GitSource, crew: Hire, tmp_path: Path
) -> None:
    server.source_token = source.token
    server.lease = lease_document(server, source)
    kicad = AskedKicad(lambda: asyncio.Event().wait())
    working = asyncio.create_task(crew(kicad).agent.once())
    await asyncio.wait_for(kicad.asked.wait(), 20)
    server.directive, server.state = "stop", "cancelled"
    settled = await asyncio.wait_for(working, 20)
    assert isinstance(settled, Settled)
    assert settled.outcome == "lease_over"
    assert "cancelled_by_user" in settled.line
    assert server.results == []
    assert no_workspace_is_left(tmp_path)


async def test_stop_ends_kicad_and_its_children_even_if_they_ignore_term(
    server: ScriptedServer, source: GitSource, crew: Hire, tmp_path: Path
) -> None:
    told = tmp_path / "pids"
    os.mkfifo(told)
    program = tmp_path / "kicad-cli"
    program.write_text(
        "#!/bin/sh\n"
        "trap '' TERM\n"
        "(trap '' TERM; while :; do sleep 60; done) &\n"
        f"echo $$ $! > {told}\n"
        "while :; do sleep 60; done\n"
    )
    program.chmod(0o700)
    server.source_token = source.token
    server.lease = lease_document(server, source)
    working = asyncio.create_task(crew(InstalledKicad(KicadCli(program, "9.0.8"))).agent.once())
    pids = [int(pid) for pid in (await asyncio.wait_for(asyncio.to_thread(told.read_text), 30)).split()]
    assert [alive(pid) for pid in pids] == [True, True]
    assert [os.getpriority(os.PRIO_PROCESS, pid) for pid in pids] == [10, 10]
    server.directive, server.state = "stop", "superseded"
    settled = await asyncio.wait_for(working, 30)
    assert isinstance(settled, Settled)
    assert settled.outcome == "lease_over"
    assert [alive(pid) for pid in pids] == [False, False]
    assert no_workspace_is_left(tmp_path)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def test_work_stops_by_itself_when_the_lease_runs_out_by_our_own_clock(
    server: ScriptedServer, source: GitSource, crew: Hire, tmp_path: Path
) -> None:
    server.source_token = source.token
    server.lease_seconds = 1
    server.lease = lease_document(server, source)
    kicad = AskedKicad(lambda: asyncio.Event().wait())
    working = asyncio.create_task(crew(kicad).agent.once())
    await asyncio.wait_for(kicad.asked.wait(), 20)
    server.order("heartbeat", *[cut] * 1_000)
    cut_off = time.monotonic()
    settled = await asyncio.wait_for(working, 20)
    assert isinstance(settled, Settled)
    assert settled.outcome == "lease_over"
    assert "clock" in settled.line
    assert time.monotonic() - cut_off < 3
    assert server.results == []
    assert no_workspace_is_left(tmp_path)


async def test_heartbeats_go_on_while_the_work_takes_the_processor(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    span: list[float] = []

    def burn() -> None:
        span.append(time.monotonic())
        while time.monotonic() < span[0] + 2:
            sum(range(10_000))
        span.append(time.monotonic())

    server.source_token = source.token
    server.lease = lease_document(server, source)
    await crew(AskedKicad(burn)).agent.once()
    assert server.result["decision"] == "pass"
    meanwhile = [moment for moment in server.heartbeat_times if span[0] < moment < span[1]]
    assert len(meanwhile) >= 5  # one each 0.2 s for 2 s, on a busy machine


async def test_a_result_that_is_ready_is_offered_although_the_lease_is_over(
    server: ScriptedServer, source: GitSource, crew: Hire
) -> None:
    def away(request: Request) -> Response:
        server.directive, server.state = "stop", "expired"
        return problem(503)(request)

    server.source_token = source.token
    server.lease = lease_document(server, source)
    server.order("result", away, away, lambda _: JSONResponse({"outcome": "late", "audit_id": 9}, 202))
    settled = await crew(AskedKicad()).agent.once()
    assert isinstance(settled, Settled)
    assert settled.outcome == "late"
    assert len(set(server.results)) == 1


async def test_tokens_go_where_they_belong_and_into_no_log(
    server: ScriptedServer, source: GitSource, crew: Hire, caplog: pytest.LogCaptureFixture
) -> None:
    server.source_token = source.token
    server.order("heartbeat", cut)
    server.order("result", cut)
    server.lease = lease_document(server, source)
    hired = crew(AskedKicad())
    with caplog.at_level(logging.DEBUG):
        await hired.agent.once()
    assert server.authorizations == {f"Bearer {REGISTRATION_TOKEN.reveal()}", f"Bearer {LEASE_TOKEN}"}
    everything = caplog.text + "\n".join(hired.said) + json.dumps(server.heartbeats) + str(server.results)
    for token in (REGISTRATION_TOKEN.reveal(), LEASE_TOKEN, source.token):
        assert token not in everything
