"""Programs under test as processes: their lines can be awaited, and they can be stopped, frozen and killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Self

LINE_SECONDS = 40.0
STOP_SECONDS = 30.0


class Program:
    """One `boardreadyops` command; standard output and error are gathered as lines."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._changed = asyncio.Condition()
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [
            asyncio.create_task(self._gather(process.stdout, self.lines)),
            asyncio.create_task(self._gather(process.stderr, self.errors)),
        ]

    @classmethod
    async def start(cls, *arguments: str, environment: Mapping[str, str]) -> Self:
        return cls(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "boardreadyops", *arguments),
                env=dict(environment), stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True,
            )
        )  # fmt: skip

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def text(self) -> str:
        """Everything it said."""
        return "\n".join([*self.lines, *self.errors])

    async def line(self, words: str, *, after: int = 0, timeout_seconds: float = LINE_SECONDS) -> str:
        """The first line of either stream (the first `after` of each left out) with these words."""

        def found() -> str | None:
            return next((one for one in [*self.lines[after:], *self.errors[after:]] if words in one), None)

        async with self._changed:
            try:
                async with asyncio.timeout(timeout_seconds):
                    await self._changed.wait_for(lambda: found() is not None or self._ended())
            except TimeoutError:
                raise TimeoutError(f"no line with {words!r} in {timeout_seconds} s:\n{self.text}") from None
        line = found()
        assert line is not None, f"it ended without a line with {words!r}:\n{self.text}"
        return line

    async def ended(self, *, timeout_seconds: float = STOP_SECONDS) -> int:
        """Its exit code, once it has ended and everything it said has been read."""
        async with asyncio.timeout(timeout_seconds):
            code = await self.process.wait()
            await asyncio.gather(*self._readers)
        return code

    async def stop(self) -> int:
        """SIGTERM and wait."""
        self.signal(signal.SIGTERM)
        return await self.ended()

    async def kill(self) -> None:
        """SIGKILL and wait. Again: nothing."""
        self.signal(signal.SIGKILL)
        await self.ended()

    def signal(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            self.process.send_signal(number)

    def _ended(self) -> bool:
        return all(reader.done() for reader in self._readers)

    async def _gather(self, stream: asyncio.StreamReader, lines: list[str]) -> None:
        async for raw in stream:
            lines.append(raw.decode(errors="replace").rstrip("\n"))
            async with self._changed:
                self._changed.notify_all()
        await asyncio.shield(self._wake())

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def gone(pid: int, *, timeout_seconds: float) -> bool:
    """Whether a process that is no child of ours ends in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_reader(handle, over.set)
    try:
        async with asyncio.timeout(timeout_seconds):
            await over.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return True


class Pipe:
    """Words from programs that are not ours to read: they write lines into a named pipe."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._rest = b""

    async def line(self, *, timeout_seconds: float = LINE_SECONDS) -> str:
        """The next line."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._handle, ready.set)
        try:
            async with asyncio.timeout(timeout_seconds):
                while b"\n" not in self._rest:
                    await ready.wait()
                    ready.clear()
                    self._rest += os.read(self._handle, 65_536)
        finally:
            loop.remove_reader(self._handle)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def close(self) -> None:
        os.close(self._handle)
