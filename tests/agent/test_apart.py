"""Work in a thread of its own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from boardreadyops.agent.apart import run_apart


async def test_work_runs_in_another_thread_and_its_result_comes_back() -> None:
    async def work() -> int:
        return threading.get_ident()

    assert await run_apart(work) != threading.get_ident()


async def test_what_work_raises_is_raised_here() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await run_apart(work)


async def test_cancelling_waits_until_the_work_has_cleaned_up() -> None:
    begun, cleaned = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(asyncio.to_thread(cleaned.set))), 5)

    working = asyncio.create_task(run_apart(work))
    assert await asyncio.to_thread(begun.wait, 10)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert cleaned.is_set()


async def test_cancelling_before_the_work_began_stops_it_too() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    working = asyncio.create_task(run_apart(work))
    await asyncio.wait({working}, timeout=0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(working, 10)
