"""`sql/schema.sql`: what an empty database has after all migrations, for people to read and for review to diff.

`python -m boardreadyops.db.snapshot` writes it; `--check` changes nothing, prints the difference and exits 1.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from boardreadyops.config import Secret
from boardreadyops.db.cluster import EMBEDDED_DATABASE, make_embedded_database, with_database
from boardreadyops.db.embedded import SOCKET_PORT, EmbeddedPostgres
from boardreadyops.db.freeze import OWN_SQL
from boardreadyops.db.migrate import migrate

MAX_DIFF_LINES = 60
# pg_dump puts its own version and a random token into every dump.
_VOLATILE = re.compile(r"^(-- Dumped (from|by) .*|\\(un)?restrict .*)\n", re.MULTILINE)
_HEADER = "-- Written by `make snapshot`: an empty database after all migrations. Never edited, never run.\n"


def take_snapshot(migrations: Path) -> str:
    """The schema that these migrations make, from a throwaway server; takes about two seconds."""
    with _throwaway_server() as server:
        return _dump(server, _migrated(server, migrations))


@contextmanager
def throwaway_database(migrations: Path = OWN_SQL / "migrations") -> Iterator[Secret]:
    """The owner's URL of a new, migrated database while the block runs; EmbeddedPostgresError, MigrationRefused."""
    with _throwaway_server() as server:
        yield _migrated(server, migrations)


def main(arguments: list[str] | None = None) -> int:
    """Write the snapshot, or with `--check` compare; 1 when it differs."""
    parser = argparse.ArgumentParser(prog="python -m boardreadyops.db.snapshot", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something differs")
    parser.add_argument("--sql", type=Path, default=OWN_SQL, help="the folder of migrations/ and schema.sql")
    chosen = parser.parse_args(arguments)
    path: Path = chosen.sql / "schema.sql"
    new = take_snapshot(chosen.sql / "migrations")
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if new == old:
        return 0
    if not chosen.check:
        path.write_text(new, encoding="utf-8")
        print(f"wrote {path.name}")
        return 0
    difference = difflib.unified_diff(
        old.splitlines(), new.splitlines(), "schema.sql", "all migrations", lineterm="", n=2
    )
    for line in list(difference)[:MAX_DIFF_LINES]:
        print(line, file=sys.stderr)
    print("snapshot: schema.sql is not what the migrations make: run `make snapshot`", file=sys.stderr)
    return 1


@contextmanager
def _throwaway_server() -> Iterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(prefix="boardreadyops-snapshot-", dir="/tmp") as folder:
        server = EmbeddedPostgres.attach_or_start(Path(folder), {"fsync": "off"})
        try:
            yield server
        finally:
            server.release()


def _migrated(server: EmbeddedPostgres, migrations: Path) -> Secret:
    owner = with_database(server.owner_dsn, EMBEDDED_DATABASE)

    async def make() -> None:
        await make_embedded_database(server.owner_dsn)
        await migrate(owner, secret_key=None, migrations=migrations)

    asyncio.run(make())
    return owner


def _dump(server: EmbeddedPostgres, owner: Secret) -> str:
    parts = urlsplit(owner.reveal())
    host = parse_qs(parts.query)["host"][0]
    dumped = server.binaries.run(
        *("pg_dump", "--schema-only", "--no-password", "--host", host, "--port", str(SOCKET_PORT)),
        *("--username", str(parts.username), EMBEDDED_DATABASE),
        user=server.user,
        environment={"PGPASSWORD": str(parts.password)},
    )
    if dumped.returncode != 0:
        raise RuntimeError(f"pg_dump failed: {dumped.stderr.strip()[:500]}")
    return _HEADER + _VOLATILE.sub("", dumped.stdout)


if __name__ == "__main__":
    sys.exit(main())
