"""`boardreadyops demo`: the guided tour on this machine, with GitHub's stand-in and an embedded PostgreSQL."""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import signal
import sys
import textwrap
from pathlib import Path

from boardreadyops.cli.exits import BAD_RESULT, GOOD, INTERRUPTED, NOT_AVAILABLE
from boardreadyops.kicad.outcome import CouldNotReason
from boardreadyops.kicad.probe import Unavailable

DEFAULT_PORT = 8000
LAST_PORT = 65_535
MAX_LINE_CHARACTERS = 110


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `demo`."""
    parser = subparsers.add_parser("demo", help="watch a board get its answer, on this machine alone")
    parser.add_argument("--exit", action="store_true", help="leave when the story is told")
    parser.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        help="where the dashboard listens; 0 or a taken port: a free one",
    )
    parser.add_argument(
        "--kicad-cli", type=Path, metavar="FILE", help="this kicad-cli instead of the one on PATH"
    )
    parser.set_defaults(handler=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Exit code: 0 every step held, 1 naming the one that did not, 3 it could not start, 130 stopped before its end."""
    return asyncio.run(_demo(arguments))


async def _demo(arguments: argparse.Namespace) -> int:
    from boardreadyops.demo.processes import ProcessFailed
    from boardreadyops.demo.story import STORY

    told: list[float] = []
    stopped = _stop_event()
    showing = asyncio.create_task(_show(arguments, told, stopped))
    interruption = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait((showing, interruption), return_when=asyncio.FIRST_COMPLETED)
        if len(told) < len(STORY):
            showing.cancel()  # when it has ended by itself, this does nothing
        return await showing
    except asyncio.CancelledError:
        print(f"  stopped after {len(told)} of {len(STORY)} steps", flush=True)
        return INTERRUPTED
    except ProcessFailed as failure:
        print(f"boardreadyops: the demo could not start: {failure}", file=sys.stderr)
        return NOT_AVAILABLE
    finally:
        interruption.cancel()


async def _show(arguments: argparse.Namespace, told: list[float], stopped: asyncio.Event) -> int:
    """Tell the story, each step's seconds into `told`; unless --exit, stay open until stopped."""
    from boardreadyops.demo.stage import open_stage
    from boardreadyops.demo.story import STORY, Step, StepFailed, tell

    def say(step: Step, sentence: str, seconds: float) -> None:
        told.append(seconds)
        _print_wrapped(f"  ● {seconds:5.2f} s  ", sentence)

    async with open_stage(port=arguments.port, kicad_path=arguments.kicad_cli) as stage:
        print(f"BoardReadyOps demo: {stage.server_url}/", flush=True)
        if isinstance(stage.kicad, Unavailable):
            _print_wrapped("  ○ ", _replay_notice(arguments.kicad_cli, stage.kicad))
        try:
            await tell(stage, say)
        except StepFailed as failure:
            print(f"  ■ failed at step {len(told) + 1} of {len(STORY)}: {failure}", flush=True)
            _print_logs(stage.folder)
            return BAD_RESULT
        source = (
            "replayed from recorded reports" if stage.replayed else "checked by kicad-cli on this machine"
        )
        print(f"  All {len(told)} steps held in {sum(told):.1f} s, {source}.")
        megabytes = await stage.server.resident_megabytes()
        if megabytes:
            print(f"  The server holds {megabytes:.0f} MB, PostgreSQL apart.")
        sys.stdout.flush()
        if not arguments.exit:
            print(f"  The dashboard stays open at {stage.server_url}/ until you press Ctrl-C.", flush=True)
            await stopped.wait()
    return GOOD


def _replay_notice(wanted: Path | None, kicad: Unavailable) -> str:
    missing = wanted is None and kicad.reason is CouldNotReason.MISSING_TOOL
    why = "kicad-cli is not installed here" if missing else kicad.detail
    return f"{why}. The runner replays reports that kicad-cli 9 made of these very commits."


def _print_logs(folder: Path) -> None:
    from boardreadyops.demo.processes import log_tail

    for log in sorted(folder.glob("*.log")):
        print(textwrap.indent(f"{log.name}:\n{log_tail(log)}", "    "), file=sys.stderr)


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"give a number from 0 to {LAST_PORT}")
    return int(text)


def _stop_event() -> asyncio.Event:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    return stopped


def _print_wrapped(lead: str, text: str) -> None:
    width = max(40, min(shutil.get_terminal_size().columns, MAX_LINE_CHARACTERS))
    print(
        textwrap.fill(
            text,
            width=width,
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
            break_long_words=False,
            break_on_hyphens=False,
        ),
        flush=True,
    )
