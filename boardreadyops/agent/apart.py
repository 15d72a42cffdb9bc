"""Work in a thread and event loop of its own: however busy it is, the heartbeat stays punctual."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

WORK_NICENESS = 10  # kicad-cli takes every core it gets; heartbeats come first

Result = TypeVar("Result")


async def run_apart(work: Callable[[], Coroutine[object, object, Result]]) -> Result:
    """Run the coroutine apart and return or raise what it does. Cancelling waits until it has ended."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Result]]] = Future()
    outcome: Future[Result] = Future()
    threading.Thread(target=_run, args=(work, started, outcome), name="boardreadyops-work").start()
    waiting = asyncio.wrap_future(outcome)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        loop, task = await asyncio.wrap_future(started)
        with contextlib.suppress(RuntimeError):  # the loop is closed: the work has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)
        await asyncio.wait({waiting})
        if not waiting.cancelled():
            waiting.exception()  # seen; who cancels does not ask
        raise


def _run(
    work: Callable[[], Coroutine[object, object, Result]],
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Result]]],
    outcome: Future[Result],
) -> None:
    _lower_priority()
    try:
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            loop = runner.get_loop()
            task = loop.create_task(work())
            started.set_result((loop, task))
            loop.run_until_complete(asyncio.wait({task}))
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            outcome.set_result(task.result())
        else:
            outcome.set_exception(error)
    finally:
        for future in (started, outcome):
            future.cancel()


def _lower_priority() -> None:
    # On Linux niceness belongs to the thread, and the programs it starts inherit it; elsewhere it is the process's.
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), WORK_NICENESS)
