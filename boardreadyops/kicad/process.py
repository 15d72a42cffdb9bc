"""Start a program in its own process group, bounded in time and output, and leave nothing behind."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

OUTPUT_LIMIT_BYTES = 256 * 1024  # kept of each stream: its beginning and its end
TERMINATION_GRACE_SECONDS = 2.0  # between TERM and KILL
DRAIN_SECONDS = 2.0  # wait for the last output after the end


_groups: set[int] = set()  # process groups that may still run


@dataclass(frozen=True, slots=True)
class Finished:
    """The program ended by itself; a negative exit code is the signal that ended it."""

    exit_code: int
    stdout: str
    stderr: str
    duration_seconds: float


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The deadline passed and the whole process group was ended."""

    after_seconds: float


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The operating system refused to start the program."""

    detail: str


class _Ends:
    """The beginning and the end of a stream, whatever its length."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, chunk: bytes) -> None:
        half = OUTPUT_LIMIT_BYTES // 2
        room = half - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        del self.tail[:-half]

    def text(self) -> str:
        return (bytes(self.head) + bytes(self.tail)).decode("utf-8", "replace")


class _Watch(asyncio.SubprocessProtocol):
    """Notes output, the end of the program and the end of its pipes: children can outlive the first."""

    def __init__(self) -> None:
        self.streams = {1: _Ends(), 2: _Ends()}
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.streams[fd].add(data)

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.drained.set()


async def run_bounded(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], timeout_seconds: float
) -> Finished | TimedOut | NotStarted:
    """Run a command. Past the deadline, or when cancelled, its whole group gets TERM, a grace, then KILL."""
    started = monotonic()
    start = asyncio.ensure_future(_start(command, folder, environment))
    try:
        begun = await asyncio.shield(start)
    except asyncio.CancelledError:
        # Cancelled while it starts, asyncio itself would kill the leader only and then wait for its children.
        if not isinstance(begun := await start, NotStarted):
            await _end_group(begun[0].get_pid(), begun[1])
            begun[0].close()
        raise
    if isinstance(begun, NotStarted):
        return begun
    transport, watch = begun
    group = transport.get_pid()
    _groups.add(group)
    try:
        async with asyncio.timeout(max(timeout_seconds, 0)):
            await watch.exited.wait()
        _signal_group(group, signal.SIGKILL)  # children that outlived it
        await _within(watch.drained, DRAIN_SECONDS)
    except TimeoutError:
        await _end_group(group, watch)
        return TimedOut(monotonic() - started)
    except asyncio.CancelledError:
        await asyncio.shield(_end_group(group, watch))
        raise
    finally:
        _groups.discard(group)
        transport.close()
    exit_code = transport.get_returncode()
    assert exit_code is not None
    return Finished(exit_code, watch.streams[1].text(), watch.streams[2].text(), monotonic() - started)


def kill_everything() -> None:
    """KILL all that `run_bounded` started in this process and has not seen end; for a program that leaves at once."""
    for group in tuple(_groups):
        _signal_group(group, signal.SIGKILL)


async def _start(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[asyncio.SubprocessTransport, _Watch] | NotStarted:
    try:
        return await asyncio.get_running_loop().subprocess_exec(
            _Watch,
            *command,
            cwd=folder,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return NotStarted(error.strerror or "the operating system refused to start it")
    except ValueError:
        return NotStarted("a name holds a NUL character")


async def _end_group(group: int, watch: _Watch) -> None:
    _signal_group(group, signal.SIGTERM)
    await _within(watch.exited, TERMINATION_GRACE_SECONDS)
    _signal_group(group, signal.SIGKILL)
    # A process in uninterruptible sleep ends when it wakes; nobody waits for that.
    await _within(watch.exited, TERMINATION_GRACE_SECONDS)


async def _within(event: asyncio.Event, timeout_seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), timeout_seconds)


def _signal_group(group: int, number: signal.Signals) -> None:
    # Nobody left in it is what we want; macOS says EPERM for a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
