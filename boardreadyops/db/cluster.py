"""Which database, and as whom: the logins of a deployment, with an embedded server where no URL is given."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import asyncpg

from boardreadyops.config import Secret, Settings, secret_key
from boardreadyops.db.binaries import EmbeddedPostgresError
from boardreadyops.db.embedded import EmbeddedPostgres
from boardreadyops.db.pool import Connection, DatabaseStarting, connect
from boardreadyops.db.roles import APP, READER, login_password
from boardreadyops.db.statements import statement

EMBEDDED_DATABASE = "boardreadyops"
WATCH_SECONDS = 1.0
RECOVERY_SECONDS = 60.0  # how long a server that others use may recover from a crash before we give up
RECOVERY_LOOK_SECONDS = 0.1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Logins:
    """Database URLs: `owner` migrates (None when this process was not given one), `app` works, `reader` reads."""

    owner: Secret | None
    app: Secret
    reader: Secret
    embedded: bool
    # The key that made the passwords of app and reader; None when somebody else sets them.
    password_key: Secret | None


@asynccontextmanager
async def logins(settings: Settings) -> AsyncIterator[Logins]:
    """The logins while the block runs; an embedded server is started, watched, and left or stopped at the end.

    Raises EmbeddedPostgresError, SettingsError, DatabaseUnavailable.
    """
    if settings.database_url is not None:
        yield _given_logins(settings, settings.database_url)
        return
    server = await _attach(settings.data_dir)
    try:
        await make_embedded_database(server.owner_dsn)
        watch = asyncio.create_task(_keep_running(server))
        try:
            owner = with_database(server.owner_dsn, EMBEDDED_DATABASE)
            yield derived_logins(owner, secret_key(settings), embedded=True)
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
    finally:
        await asyncio.to_thread(server.release)


async def make_embedded_database(owner_dsn: Secret) -> None:
    """Make the database `boardreadyops` in the embedded server; nothing when it is there."""
    connection = await _connect_patiently(owner_dsn)
    try:
        if not await connection.fetchval(statement("embedded_database_exists")):
            with suppress(asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
                await connection.execute(statement("embedded_database_create"))
    finally:
        await connection.close()


async def _connect_patiently(owner_dsn: Secret) -> Connection:
    """A connection as soon as a server that is live takes one: after a crash of one of its processes it recovers first."""
    give_up_at = asyncio.get_running_loop().time() + RECOVERY_SECONDS
    while True:
        try:
            return await connect(owner_dsn, application_name="boardreadyops")
        except DatabaseStarting:
            if asyncio.get_running_loop().time() > give_up_at:
                raise
        await asyncio.sleep(RECOVERY_LOOK_SECONDS)


def derived_logins(owner: Secret, key: Secret, *, embedded: bool) -> Logins:
    """The owner's URL with the two logins and their passwords in place of its own."""
    app, reader = (with_login(owner, role, login_password(key, role)) for role in (APP, READER))
    return Logins(owner, app, reader, embedded, key)


def with_login(dsn: Secret, user: str, password: Secret) -> Secret:
    """The same database URL for another login."""
    parts = urlsplit(dsn.reveal())
    hosts = parts.netloc.rpartition("@")[2]
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in {"user", "password"}]
    login = f"{quote(user, safe='')}:{quote(password.reveal(), safe='')}"
    return Secret(urlunsplit(parts._replace(netloc=f"{login}@{hosts}", query=urlencode(query))))


def with_database(dsn: Secret, name: str) -> Secret:
    """The same server and login for another database."""
    return Secret(urlunsplit(urlsplit(dsn.reveal())._replace(path=f"/{quote(name, safe='')}")))


def user_of(dsn: Secret) -> str | None:
    """The user that a database URL names."""
    parts = urlsplit(dsn.reveal())
    name = parts.netloc.rpartition("@")[0].partition(":")[0]
    return unquote(name) or dict(parse_qsl(parts.query)).get("user")


def _given_logins(settings: Settings, database_url: Secret) -> Logins:
    given_reader = settings.reader_database_url
    if settings.migration_database_url is not None and given_reader is not None:
        return Logins(
            settings.migration_database_url, database_url, given_reader, embedded=False, password_key=None
        )
    logins = derived_logins(database_url, secret_key(settings), embedded=False)
    app = logins.app
    owner: Secret | None = database_url
    if user_of(database_url) == APP:
        # A replica that is not trusted with the owner's login: it serves, and somebody else migrates.
        owner, app = None, database_url
    return Logins(owner, app, given_reader or logins.reader, embedded=False, password_key=logins.password_key)


async def _attach(data_dir: Path) -> EmbeddedPostgres:
    """Attach in a thread; when cancelled meanwhile (Ctrl-C), end that use too, or its server would be left over."""
    attaching = asyncio.create_task(asyncio.to_thread(EmbeddedPostgres.attach_or_start, data_dir))
    try:
        return await asyncio.shield(attaching)
    except asyncio.CancelledError:
        await asyncio.to_thread((await attaching).release)
        raise


async def _keep_running(server: EmbeddedPostgres) -> None:
    """Start the server again when somebody killed it; whoever uses it sees DatabaseUnavailable meanwhile."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            await asyncio.to_thread(server.ensure_running)
        except EmbeddedPostgresError as error:
            _log.error("%s", error)  # tried again: a full disk may have room later
