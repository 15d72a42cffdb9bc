"""`boardreadyops runner once` and `run`: the agent with this machine's settings, signals and log."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import platform
import signal
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import assert_never
from urllib.parse import urlsplit

from boardreadyops.agent.checkout import is_loopback
from boardreadyops.agent.execution import Settled
from boardreadyops.agent.loop import Agent
from boardreadyops.agent.registration import Registration, load, only_state_path, state_path
from boardreadyops.agent.server import Denied, NothingToDo, RunnerServer, Unavailable
from boardreadyops.agent.work import Bench
from boardreadyops.agent.workspace import remove_abandoned
from boardreadyops.cli.exits import BAD_RESULT, GOOD, NOT_AVAILABLE, USAGE
from boardreadyops.config import Settings, SettingsError, executable_search_path
from boardreadyops.domain.plain_text import one_line
from boardreadyops.kicad.process import kill_everything
from boardreadyops.kicad.recorded import RecordedReports
from boardreadyops.kicad.runner import KicadRunner, MissingKicad, installed_or_missing

MAX_LINE_CHARACTERS = 500  # what is said about a lease

Ending = Settled | NothingToDo | Denied | Unavailable


def work_once(arguments: argparse.Namespace) -> int:
    """Do at most one piece of work; the exit code."""
    return _work(arguments, forever=False)


def work_run(arguments: argparse.Namespace) -> int:
    """Work until SIGTERM; the exit code."""
    return _work(arguments, forever=True)


def _work(arguments: argparse.Namespace, *, forever: bool) -> int:
    _log_to_stderr()
    settings = Settings.from_environment()
    path = _state(arguments, settings)
    registration = load(path)
    recorded = arguments.recorded_reports
    if recorded is not None and not is_loopback(urlsplit(registration.server).hostname or ""):
        raise SettingsError("--recorded-reports is for the demo's server on this machine only")
    work_folder = arguments.work_folder or settings.data_dir / "runner" / "work" / path.stem
    try:
        work_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_abandoned(work_folder)
    except OSError as error:
        raise SettingsError(f"the work folder {work_folder} cannot be used ({error.strerror})") from error
    return asyncio.run(_agent(arguments, registration, work_folder.resolve(), forever=forever))


async def _agent(
    arguments: argparse.Namespace, registration: Registration, work_folder: Path, *, forever: bool
) -> int:
    search_path = executable_search_path()
    kicad = await _kicad(arguments.kicad_cli, arguments.recorded_reports, search_path)
    bench = Bench(work_folder=work_folder, search_path=search_path, kicad=kicad)
    async with RunnerServer(registration.server) as server:
        agent = Agent(
            server,
            registration.token,
            bench,
            capabilities=[*_found_capabilities(kicad), *arguments.capability],
            say=_say,
        )
        if forever:
            _say(f"waiting for work from {registration.server}")
        ending = await _until_sigterm(agent.run() if forever else agent.once())
    if ending is None:
        _say("stopped")
        return GOOD
    return _exit_code(ending)


async def _until_sigterm(work: Awaitable[Ending]) -> Ending | None:
    """What the work ended in; None when SIGTERM stopped it first, after it has cleaned up. A second one ends us."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    told_to_stop = asyncio.Event()

    def stop_working() -> None:
        if told_to_stop.is_set():
            _leave_at_once()
        told_to_stop.set()
        _say("stopping; a second SIGTERM ends at once")

    loop.add_signal_handler(signal.SIGTERM, stop_working)
    stop = asyncio.create_task(told_to_stop.wait())
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for one in (task, stop):
            one.cancel()
        await asyncio.wait({task, stop})


def _leave_at_once() -> None:
    """End by SIGTERM as if nobody had caught it; only kicad-cli and git do not outlive us."""
    kill_everything()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)


async def _kicad(path: Path | None, recorded: Path | None, search_path: str) -> KicadRunner:
    kicad = await installed_or_missing(path, search_path=search_path)
    if not isinstance(kicad, MissingKicad):
        return kicad
    if recorded is not None:
        return RecordedReports(recorded)
    logging.getLogger(__name__).warning("%s; until then nothing can be checked here", kicad.answer.detail)
    return kicad


def _found_capabilities(kicad: KicadRunner) -> list[str]:
    found = [f"arch={platform.machine() or 'unknown'}"]
    version = kicad.tool_versions.get("kicad-cli", "").partition(" ")[0]
    return [f"kicad={version}", *found] if version else found


def _exit_code(ending: Ending) -> int:
    match ending:
        case Settled(outcome="undelivered"):
            return _failed(ending.line, NOT_AVAILABLE)
        case Settled(outcome="given_back"):
            return _failed(ending.line, NOT_AVAILABLE)
        case Settled(outcome="refused"):
            return _failed(ending.line, BAD_RESULT)
        case Settled():
            return GOOD
        case NothingToDo():
            _say("nothing to do")
            return GOOD
        case Denied():
            return _failed(ending.detail, USAGE)
        case Unavailable():
            return _failed(ending.detail, NOT_AVAILABLE)
        case _:
            assert_never(ending)


def _state(arguments: argparse.Namespace, settings: Settings) -> Path:
    if arguments.state is not None:
        chosen: Path = arguments.state
        return chosen
    if arguments.name is not None:
        return state_path(settings.data_dir, arguments.name)
    return only_state_path(settings.data_dir)


def _say(line: str) -> None:
    print(one_line(line, limit_characters=MAX_LINE_CHARACTERS), flush=True)


def _failed(line: str, exit_code: int) -> int:
    print(f"boardreadyops runner: {line}", file=sys.stderr)
    return exit_code


def _log_to_stderr() -> None:
    formatter = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime  # as the server's log does
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.INFO)
    for chatty in ("httpx", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
