"""A PostgreSQL of the bench's own: seeded fast and unsafely, then measured as the product runs it, fsync on."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

from boardreadyops.bench.pgbench import BenchFailed, libpq_environment
from boardreadyops.bench.seed import statement
from boardreadyops.config import Secret
from boardreadyops.db.cluster import Logins, derived_logins, with_database
from boardreadyops.db.embedded import EmbeddedPostgres
from boardreadyops.db.migrate import migrate
from boardreadyops.db.pool import connect
from boardreadyops.db.roles import ensure_roles

KEY = Secret("bench-key-bench-key-bench-key-bench-key")
PLAIN = "bench_plain"
# Only while rows are made: nothing here survives a crash, and nothing is measured.
SEEDING: Mapping[str, str] = MappingProxyType(
    {
        "autovacuum": "off",
        "fsync": "off",
        "full_page_writes": "off",
        "max_wal_senders": "0",
        "max_wal_size": "16GB",
        "shared_buffers": "1GB",
        "wal_level": "minimal",
    }
)


class BenchServer:
    """The databases of one bench run, by name."""

    def __init__(self, server: EmbeddedPostgres, folder: Path) -> None:
        self._server = server
        self._folder = folder

    @property
    def programs(self) -> Path:
        """The folder of pgbench and its like."""
        return self._server.binaries.folder

    @property
    def version(self) -> str:
        """PostgreSQL's version."""
        return self._server.binaries.version

    def logins(self, database: str) -> Logins:
        """The URLs of one database; `owner` is a superuser's here."""
        return derived_logins(with_database(self._server.owner_dsn, database), KEY, embedded=True)

    def owner(self, database: str) -> Secret:
        """A superuser's URL of one database."""
        return with_database(self._server.owner_dsn, database)

    async def create(self, database: str, *, template: str = PLAIN) -> None:
        """Copy a database under a new name; its indexes are as compact as the template's."""
        await self._program("createdb", "--strategy=file_copy", "--template", template, database)
        connection = await connect(self.owner(database), application_name="boardreadyops bench")
        try:
            await ensure_roles(
                connection, secret_key=None
            )  # a copy has the schema's grants, not the database's
        finally:
            await connection.close()

    async def drop(self, database: str) -> None:
        """Remove a database with whoever is connected to it."""
        await self._program("dropdb", "--force", database)

    async def make_plain(self) -> None:
        """The template of all others: migrated, without rows."""
        await self._program("createdb", PLAIN)
        await migrate(self.owner(PLAIN), secret_key=KEY)
        connection = await connect(self.owner(PLAIN), application_name="boardreadyops bench")
        try:
            await connection.execute(statement("create_walinspect"))
        finally:
            await connection.close()

    async def restart(self) -> None:
        """From now on as the product runs it. What was written reaches the disk first, so that nobody pays for it later."""
        await asyncio.to_thread(self._server.release)
        await asyncio.to_thread(os.sync)
        self._server = await asyncio.to_thread(EmbeddedPostgres.attach_or_start, self._folder)

    async def stop(self) -> None:
        """Stop the server."""
        await asyncio.to_thread(self._server.release)

    async def _program(self, name: str, *arguments: str) -> None:
        process = await asyncio.create_subprocess_exec(
            str(self.programs / name),
            *arguments,
            env=libpq_environment(self._server.owner_dsn),
            stderr=asyncio.subprocess.PIPE,
        )
        _, complaint = await process.communicate()
        if process.returncode != 0:
            raise BenchFailed(f"{name} failed: {complaint.decode(errors='replace').strip()[-300:]}")


@asynccontextmanager
async def bench_server(say: Callable[[str], None]) -> AsyncIterator[BenchServer]:
    """A new server in a temporary folder, in its seeding mode; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="boardreadyops-bench-"))
    try:
        server = BenchServer(
            await asyncio.to_thread(EmbeddedPostgres.attach_or_start, folder, SEEDING), folder
        )
        say(f"PostgreSQL {server.version} in {folder}")
        try:
            yield server
        finally:
            await server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
