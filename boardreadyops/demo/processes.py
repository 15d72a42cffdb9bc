"""Child processes of the demo: their own log each, one announced line awaited, ended together with the demo."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STOP_SECONDS = 20.0
COMMAND_SECONDS = 60.0
LOG_TAIL_LINES = 12


class ProcessFailed(RuntimeError):
    """A child process of the demo did not do what it was started for; the text ends with its last lines."""


def _command(arguments: Sequence[str]) -> tuple[str, ...]:
    return (sys.executable, "-m", "boardreadyops", *arguments)


def log_tail(log: Path) -> str:
    """The last lines of a log, for a message."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:])


class Child:
    """One long-running `boardreadyops` command."""

    def __init__(self, process: Process, log: Path, reader: asyncio.Task[None]) -> None:
        self._process = process
        self._log = log
        self._reader = reader

    @classmethod
    async def start(
        cls,
        *arguments: str,
        environment: Mapping[str, str],
        log: Path,
        announces: str | None,
        timeout_seconds: float,
    ) -> tuple[Child, str]:
        """Start a command and wait for the line of its output that contains `announces`; ProcessFailed with its log."""
        with log.open("wb") as sink:
            process = await asyncio.create_subprocess_exec(
                *_command(arguments), env=dict(environment), stdout=PIPE, stderr=sink, start_new_session=True
            )
        announced: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        reader = asyncio.create_task(_read_lines(process, announces, announced))
        child = cls(process, log, reader)
        if announces is None:
            announced.set_result("")
        try:
            async with asyncio.timeout(timeout_seconds):
                return child, await announced
        except asyncio.CancelledError:
            await child.stop()
            raise
        except (TimeoutError, ProcessFailed):
            await child.stop()
            raise ProcessFailed(
                f"`boardreadyops {' '.join(arguments)}` did not come up:\n{log_tail(log)}"
            ) from None

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._process.returncode is None

    async def resident_megabytes(self) -> float:
        """What the process holds in memory now, in MB of 1,000,000 bytes, as `ps` tells it; 0 where there is none."""
        try:
            asked = await asyncio.create_subprocess_exec(
                "ps", "-o", "rss=", "-p", str(self._process.pid), stdout=PIPE, stderr=DEVNULL
            )
        except FileNotFoundError:
            return 0.0
        output, _ = await asked.communicate()
        return int(output or 0) * 1_024 / 1_000_000

    async def stop(self) -> None:
        """Ask it to end, insist after STOP_SECONDS. Idempotent."""
        if self.alive:
            self._process.terminate()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        await self._reader


async def _read_lines(process: Process, announces: str | None, announced: asyncio.Future[str]) -> None:
    assert process.stdout is not None
    async for raw in process.stdout:
        line = raw.decode(errors="replace").strip()
        if announces is not None and announces in line and not announced.done():
            announced.set_result(line)
    if not announced.done():
        announced.set_exception(ProcessFailed("it ended"))


async def run_command(
    *arguments: str, environment: Mapping[str, str], standard_input: str = ""
) -> dict[str, Any]:
    """Run a short `boardreadyops` command to its end and return the JSON it prints ({} if it prints none)."""
    told = f"`boardreadyops {' '.join(arguments)}`"
    process = await asyncio.create_subprocess_exec(
        *_command(arguments),
        env=dict(environment),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,  # a Ctrl-C is the demo's to answer
    )
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            output, errors = await process.communicate(standard_input.encode())
    except TimeoutError:
        raise ProcessFailed(f"{told} took longer than {COMMAND_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise ProcessFailed(f"{told}: {errors.decode(errors='replace').strip()}")
    answer: dict[str, Any] = json.loads(output) if output.lstrip().startswith(b"{") else {}
    return answer
