"""uvicorn in the running event loop, on a free loopback port, without taking over the process's signals."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HOST = "127.0.0.1"
BACKLOG = 128
SHUTDOWN_TIMEOUT_SECONDS = 2
TICK_SECONDS = 0.1
TICKS_PER_DAY = 864_000


class _Protocol(HttpToolsProtocol):
    """Hands the connection to the application, so that a fault can cut it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "transport": transport}
        super().connection_made(transport)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The process belongs to whoever runs the stand-in: its Ctrl-C is not ours to catch.
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        # uvicorn's own loop notices an end only at its next tick; tests serve and stop by the hundred.
        ticks = 0
        while not await self.on_tick(ticks) and not self.stopping.is_set():
            ticks = (ticks + 1) % TICKS_PER_DAY
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), TICK_SECONDS)


def listening_socket() -> socket.socket:
    """Return a socket bound to a free port of 127.0.0.1."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((HOST, 0))
    return listener


@contextlib.asynccontextmanager
async def serving(application: Any, listener: socket.socket) -> AsyncIterator[None]:
    """Serve an ASGI application on the socket until the block ends; the socket is closed then."""
    config = uvicorn.Config(
        application,
        http=cast(Any, _Protocol),
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        backlog=BACKLOG,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_SECONDS,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listener]))
    listening = asyncio.create_task(server.listening.wait())
    await asyncio.wait((running, listening), return_when=asyncio.FIRST_COMPLETED)
    listening.cancel()
    try:
        yield
    finally:
        server.should_exit = True
        server.stopping.set()
        await running
        listener.close()
