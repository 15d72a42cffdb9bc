"""Processes of their own that use an embedded server, and how tests look at that server."""

from __future__ import annotations

import pwd
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from boardreadyops.config import Secret
from boardreadyops.db import binaries
from boardreadyops.db.binaries import EmbeddedPostgresError
from boardreadyops.db.embedded import EmbeddedPostgres
from boardreadyops.db.folder_lock import folder_lock
from boardreadyops.db.pool import connect
from boardreadyops.db.postmaster import PidFile, Postmaster

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 60

HOLD = """
import sys
from pathlib import Path
from boardreadyops.db.binaries import EmbeddedPostgresError
from boardreadyops.db.embedded import EmbeddedPostgres
try:
    server = EmbeddedPostgres.attach_or_start(Path(sys.argv[1]))
except EmbeddedPostgresError as error:
    sys.exit(f"refused: {error}")
print("ready", flush=True)
sys.stdin.read()
server.release()
"""
LOCK = """
import sys
from pathlib import Path
from boardreadyops.db.folder_lock import folder_lock
with folder_lock(Path(sys.argv[1]), "serve"):
    print("ready", flush=True)
    sys.stdin.read()
"""


def start(script: str, folder: Path, user: str | None = None) -> subprocess.Popen[str]:
    """Run this script on this folder in a process of its own, as another user when one is named."""
    account = None if user is None else pwd.getpwnam(user)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return subprocess.Popen(
        [sys.executable if account is None else python_for(account), "-c", script, str(folder)],
        env={"PYTHONPATH": ":".join([str(ROOT), *packages]), "PATH": "/usr/bin:/bin"},
        cwd="/",
        user=None if account is None else account.pw_uid,
        group=None if account is None else account.pw_gid,
        extra_groups=None if account is None else [],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def python_for(account: pwd.struct_passwd) -> str:
    """A Python that this user may run: ours may lie in a closed home."""
    for python in (sys.executable, "/usr/bin/python3"):
        with suppress(OSError):
            check = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            if subprocess.run(check, user=account.pw_uid, cwd="/", check=False).returncode == 0:
                return python
    pytest.skip(f"no Python 3.11 that user {account.pw_name} could run")


def wait_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    if line != "ready\n":
        raise AssertionError(process.communicate(timeout=WAIT_SECONDS)[1])


def finish(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=WAIT_SECONDS)[1]


def postmaster(data_dir: Path) -> Postmaster:
    cluster = data_dir / "postgres" / "cluster"
    return Postmaster(cluster, binaries.server_user(cluster))


def pid_file(data_dir: Path) -> PidFile:
    found = postmaster(data_dir).pid_file()
    assert found is not None
    return found


async def ask(dsn: Secret, sql: str) -> object:
    connection = await connect(dsn, application_name="tests")
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def refused(data_dir: Path, why: str) -> None:
    with pytest.raises(EmbeddedPostgresError, match=why) as caught:
        EmbeddedPostgres.attach_or_start(data_dir)
    assert "\n" not in str(caught.value)
    # A refusal leaves no lock behind.
    with folder_lock(data_dir if data_dir.is_dir() else data_dir.parent, "postgres.users"):
        pass
