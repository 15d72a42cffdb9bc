"""uvicorn on a socket of ours, in a loop of ours, with signals left to whoever runs the process."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from fastapi import FastAPI

from boardreadyops.config import PREFIX
from boardreadyops.web.waiting import WorkSignal

BACKLOG = 2_048
MAX_CONCURRENT_REQUESTS = 1_000  # more are answered 503 at once
KEEP_ALIVE_SECONDS = 15
DRAIN_SECONDS = 10  # for requests under way when the server stops


class ListenRefused(RuntimeError):
    """The address cannot be listened on. The text is one line and says what to do."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket bound to this address, taken before anything slow is started; ListenRefused."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise ListenRefused(f"{host} is no address of this machine: set {PREFIX}HOST") from None
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # here, not later: two may bind one address, but only one may listen
    except OSError as error:
        listener.close()
        raise ListenRefused(_refusal(host, port, error)) from None
    return listener


@contextlib.asynccontextmanager
async def serving(
    app: FastAPI, listener: socket.socket, work: WorkSignal
) -> AsyncIterator[asyncio.Task[None]]:
    """Serve on the socket while the block runs, then drain; the task ends early only when the server broke."""
    config = uvicorn.Config(
        app,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        proxy_headers=False,  # who is local is decided from the connection itself
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=MAX_CONCURRENT_REQUESTS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve([listener]))
    listening = asyncio.create_task(server.listening.wait())
    await asyncio.wait((running, listening), return_when=asyncio.FIRST_COMPLETED)
    listening.cancel()
    try:
        yield running
    finally:
        work.close()  # who waits for work is answered at once, or draining would wait for them
        server.should_exit = True
        await running
        listener.close()


def _refusal(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is taken: stop whoever listens there, or set {PREFIX}PORT"
    if error.errno == errno.EACCES:
        return f"port {port} of {host} is not for this user: set {PREFIX}PORT to 1024 or more"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine: set {PREFIX}HOST"
    return f"port {port} of {host} cannot be used ({error.strerror}): set {PREFIX}HOST or {PREFIX}PORT"
