import asyncio
from random import Random

import pytest

from boardreadyops.db.pool import DatabaseUnavailable
from boardreadyops.worker.ticker import Ticker

LONG_SECONDS = 3_600.0


async def nothing() -> None:
    return None


async def test_the_first_step_comes_at_once_and_a_wake_brings_the_next() -> None:
    ticker = Ticker("test", nothing, interval_seconds=LONG_SECONDS, rng=Random(1))
    running = asyncio.create_task(ticker.run())
    assert await ticker.ticked(beyond=0) == 1
    ticker.wake()
    assert await ticker.ticked(beyond=1) == 2
    ticker.stop()
    await running


async def test_a_wake_during_a_step_is_not_lost() -> None:
    ticker: Ticker

    async def step() -> None:
        if ticker.ticks == 0:
            ticker.wake()

    ticker = Ticker("test", step, interval_seconds=LONG_SECONDS, rng=Random(1))
    running = asyncio.create_task(ticker.run())
    assert await ticker.ticked(beyond=1) == 2
    ticker.stop()
    await running


async def test_it_ticks_by_itself() -> None:
    ticker = Ticker("test", nothing, interval_seconds=0.001, rng=Random(1))
    running = asyncio.create_task(ticker.run())
    await ticker.ticked(beyond=3)
    ticker.stop()
    await running


async def test_a_stop_lets_the_step_under_way_end() -> None:
    entered, leave, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def step() -> None:
        entered.set()
        await leave.wait()
        ended.set()

    ticker = Ticker("test", step, interval_seconds=LONG_SECONDS, rng=Random(1))
    running = asyncio.create_task(ticker.run())
    await entered.wait()
    ticker.stop()
    leave.set()
    await running
    assert ended.is_set()


async def test_an_absent_database_is_asked_again_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    async def step() -> None:
        if ticker.ticks < 3:
            raise DatabaseUnavailable("the database cannot be used now")

    ticker = Ticker("test", step, interval_seconds=0.001, rng=Random(1))
    running = asyncio.create_task(ticker.run())
    await ticker.ticked(beyond=3)
    ticker.stop()
    await running
    assert len(caplog.records) == 1


async def test_a_mistake_in_the_program_comes_out() -> None:
    async def step() -> None:
        raise KeyError("mistake")

    with pytest.raises(KeyError):
        await Ticker("test", step, interval_seconds=1.0, rng=Random(1)).run()
