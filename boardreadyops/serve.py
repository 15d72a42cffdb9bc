"""`serve`: one process with the web and the relay, over an embedded or a given database."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Protocol

import uvloop

from boardreadyops.config import PREFIX, Secret, Settings, SettingsError, secret_key
from boardreadyops.db.cluster import Logins, logins
from boardreadyops.db.folder_lock import FolderInUse, folder_lock
from boardreadyops.db.metadata import configure_deployment
from boardreadyops.db.migrate import Fit, migrate, schema_fits
from boardreadyops.db.pool import Database, connect
from boardreadyops.db.roles import LoginRefused, assert_login_cannot_write
from boardreadyops.github.auth import PrivateKeyRefused
from boardreadyops.github.client import GitHubClient
from boardreadyops.web.app import WebServices, WorkSignal, create_app
from boardreadyops.web.server import ListenRefused, listening_socket, serving
from boardreadyops.worker.relay import Relay
from boardreadyops.worker.sweeper import Sweeper

APP_CONNECTIONS = 8
READER_CONNECTIONS = 4  # pages can use up these, and heartbeats and results do not notice
WORKER_CONNECTIONS = 4
WORKER_RESTART_SECONDS = 5.0
WORKER_DRAIN_SECONDS = 10.0
MAX_LOG_LINE_CHARACTERS = 2_000

log = logging.getLogger(__name__)


class ServeRefused(RuntimeError):
    """Serving cannot start here. The text is one line and says what to do; exit code 3."""


def run(settings: Settings, *, with_worker: bool = True) -> None:
    """Serve in this process until SIGTERM or SIGINT; raises what `serve` raises."""
    uvloop.run(serve(settings, with_worker=with_worker))


async def serve(settings: Settings, *, with_worker: bool = True) -> None:
    """Serve until SIGTERM or SIGINT, then drain: requests under way are answered, sends under way end.

    Prints one line with the address once it listens. Raises ServeRefused, SettingsError, MigrationRefused,
    DatabaseUnavailable, EmbeddedPostgresError: each is one line that says what to do.
    """
    write_log_to_standard_error()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        async with served(settings, with_worker=with_worker) as (address, web):
            print(f"BoardReadyOps is at {address}", flush=True)  # noqa: T201 — the one line people wait for
            stopped = asyncio.create_task(stop.wait())
            await asyncio.wait((stopped, web), return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if web.done() and not stop.is_set():
                raise ServeRefused("the web server ended by itself: the log may say why")
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def served(
    settings: Settings, *, with_worker: bool = True
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """Everything `serve` does but signals and output: the address, and a task that ends early if the web breaks."""
    async with AsyncExitStack() as stack:
        try:
            if settings.database_url is None:
                stack.enter_context(folder_lock(settings.data_dir, "serve"))
            listener = listening_socket(settings.host, settings.port)
        except (FolderInUse, ListenRefused) as error:
            raise ServeRefused(str(error)) from None
        except OSError as error:
            raise _folder_refused(settings, error) from None
        stack.callback(listener.close)
        settings = settings.bound_to(listener.getsockname()[1])
        github = _github(settings)
        if github is not None:
            stack.push_async_callback(github.aclose)
        found = await stack.enter_async_context(logins(settings))
        app = await _ready_database(stack, settings, found)
        reader = await _open(stack, found.reader, READER_CONNECTIONS, "boardreadyops pages")
        if with_worker:
            worker = await _open(stack, found.app, WORKER_CONNECTIONS, "boardreadyops worker")
            await stack.enter_async_context(_working(worker, github, settings))
        services = WebServices(
            app_database=app,
            reader_database=reader,
            github=github,
            settings=settings,
            secret_key=secret_key(settings),
            schema_fit=schema_fits,
            work=WorkSignal(app),
        )
        web = await stack.enter_async_context(serving(create_app(services), listener, services.work))
        yield settings.public_url, web


async def _ready_database(stack: AsyncExitStack, settings: Settings, found: Logins) -> Database:
    """The working pool, once the schema fits, the login is weak enough and the clocks are stored."""
    if found.embedded and found.owner is not None:
        await migrate(found.owner, secret_key=found.password_key)
    elif found.owner is not None:
        await _refuse_before_the_logins_exist(found.owner)
    app = await _open(stack, found.app, APP_CONNECTIONS, "boardreadyops web")
    async with app.connection() as connection:
        fit = await schema_fits(connection)
        if fit is not Fit.FITS:
            raise ServeRefused(fit.advice)
        try:
            await assert_login_cannot_write(connection)
        except LoginRefused as error:
            raise ServeRefused(str(error)) from None
        await configure_deployment(connection, settings)
    return app


async def _refuse_before_the_logins_exist(owner: Secret) -> None:
    """A database that was never migrated has no working login: say that, not that a password is wrong."""
    connection = await connect(owner, application_name="boardreadyops serve")
    try:
        fit = await schema_fits(connection)
    finally:
        await connection.close()
    if fit is not Fit.FITS:
        raise ServeRefused(fit.advice)


async def _open(stack: AsyncExitStack, dsn: Secret, connections: int, name: str) -> Database:
    database = await Database.open(dsn, max_connections=connections, application_name=name)
    stack.push_async_callback(database.close)
    return database


def _github(settings: Settings) -> GitHubClient | None:
    """The way to GitHub, if an App is configured."""
    if settings.github_app_id is None or settings.github_private_key is None:
        return None
    try:
        return GitHubClient(
            settings.github_api_url,
            settings.github_app_id,
            settings.github_private_key,
            settings.github_timeout_seconds,
            _utc_now,
        )
    except PrivateKeyRefused as error:
        raise SettingsError(f"{PREFIX}GITHUB_PRIVATE_KEY: {error}") from None


class WorkerLoop(Protocol):
    """Something that works beside the web until it is stopped."""

    async def run(self) -> None:
        """Work until `stop`."""

    def stop(self) -> None:
        """Begin nothing more; `run` returns when what is under way has ended."""


@asynccontextmanager
async def _working(
    database: Database, github: GitHubClient | None, settings: Settings
) -> AsyncIterator[None]:
    """Relay and sweeper beside the web; what breaks is started again, and the log says why."""
    relay = Relay(
        database,
        github,
        public_url=settings.public_url,
        doubt_seconds=settings.doubt_seconds,
        clock=_utc_now,
    )
    loops: dict[str, WorkerLoop] = {"relay": relay, "sweeper": Sweeper(database)}
    running = asyncio.gather(*(_keep_running(name, loop) for name, loop in loops.items()))
    try:
        yield
    finally:
        for loop in loops.values():
            loop.stop()
        try:
            async with asyncio.timeout(WORKER_DRAIN_SECONDS):
                await running
        except TimeoutError:
            log.warning(
                "the worker was cut after %g s; what it was sending is looked up later", WORKER_DRAIN_SECONDS
            )


async def _keep_running(name: str, loop: WorkerLoop) -> None:
    while True:
        running = asyncio.create_task(loop.run())
        try:
            await asyncio.wait((running,))
        finally:
            if not running.done():
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running
        error = running.exception()
        if error is None:
            return
        log.error("the %s broke and starts again in %g s", name, WORKER_RESTART_SECONDS, exc_info=error)
        await asyncio.sleep(WORKER_RESTART_SECONDS)


def _folder_refused(settings: Settings, error: OSError) -> SettingsError:
    return SettingsError(
        f"{PREFIX}DATA_DIR {settings.data_dir} cannot be used ({error.strerror}): choose another folder"
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)


class OneLineFormatter(logging.Formatter):
    """Time (UTC), level, logger, message; an exception as its type, text and place. Never more than one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one bounded line."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line = f"{moment:%Y-%m-%dT%H:%M:%S}Z {record.levelname} {record.name}: {record.getMessage()}"
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
            line += f" ({type(error).__name__}: {error}{place})"
        shown = "".join(mark if mark.isprintable() else " " for mark in line[:MAX_LOG_LINE_CHARACTERS])
        return shown.rstrip()


def write_log_to_standard_error() -> None:
    """One line per noteworthy thing, none per request; libraries speak only when something is wrong."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLineFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("boardreadyops").setLevel(logging.INFO)
