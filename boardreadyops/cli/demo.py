"""`boardreadyops demo`: the guided tour on this machine, with GitHub's stand-in and an embedded PostgreSQL."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import sys
import textwrap
from pathlib import Path

from boardreadyops.cli.exits import BAD_RESULT, GOOD, NOT_AVAILABLE

DEFAULT_PORT = 8000
MAX_LINE_CHARACTERS = 110


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `demo`."""
    parser = subparsers.add_parser("demo", help="watch a board get its answer, on this machine alone")
    parser.add_argument("--exit", action="store_true", help="leave when the story is told")
    parser.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        help="where the dashboard listens; 0 or a taken port: a free one",
    )
    parser.add_argument(
        "--kicad-cli", type=Path, metavar="FILE", help="this kicad-cli instead of the one on PATH"
    )
    parser.set_defaults(handler=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Exit code 0 when every step held, 1 naming the step that did not, 3 when the demo could not start."""
    return asyncio.run(_demo(arguments))


async def _demo(arguments: argparse.Namespace) -> int:
    from boardreadyops.demo.processes import ProcessFailed, log_tail
    from boardreadyops.demo.stage import open_stage
    from boardreadyops.demo.story import STORY, Step, StepFailed, tell

    told: list[float] = []

    def say(step: Step, sentence: str, seconds: float) -> None:
        told.append(seconds)
        _print_wrapped(f"  ● {seconds:5.2f} s  ", sentence)

    stopped = _stop_event()
    try:
        async with open_stage(port=arguments.port, kicad_path=arguments.kicad_cli) as stage:
            print(f"BoardReadyOps demo: {stage.server_url}/", flush=True)
            if stage.replayed:
                _print_wrapped("  ○ ", REPLAY_NOTICE)
            try:
                await tell(stage, say)
            except StepFailed as failure:
                print(f"  ■ failed at step {len(told) + 1} of {len(STORY)}: {failure}", flush=True)
                for log in sorted(stage.folder.glob("*.log")):
                    print(textwrap.indent(f"{log.name}:\n{log_tail(log)}", "    "), file=sys.stderr)
                return BAD_RESULT
            source = (
                "replayed from recorded reports" if stage.replayed else "checked by kicad-cli on this machine"
            )
            print(f"  All {len(told)} steps held in {sum(told):.1f} s, {source}.")
            print(
                f"  The server holds {await stage.server.resident_megabytes():.0f} MB, PostgreSQL apart.",
                flush=True,
            )
            if not arguments.exit:
                print(
                    f"  The dashboard stays open at {stage.server_url}/ until you press Ctrl-C.", flush=True
                )
                await stopped.wait()
    except ProcessFailed as failure:
        print(f"boardreadyops: the demo could not start: {failure}", file=sys.stderr)
        return NOT_AVAILABLE
    return GOOD


REPLAY_NOTICE = (
    "kicad-cli is not installed here: the runner replays reports that kicad-cli 9 made of these very commits."
)


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
