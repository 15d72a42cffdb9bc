"""One server process on one cluster folder: is it alive, start it, stop it. Callers hold the start lock."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from boardreadyops.db.binaries import PROGRAM_ENVIRONMENT, Binaries, ServerUser

START_TIMEOUT_SECONDS = 120.0  # recovery after a crash replays at most `max_wal_size`
FAST_STOP_SECONDS = 30.0
IMMEDIATE_STOP_SECONDS = 10.0
LEFTOVER_BACKENDS_SECONDS = 10.0
POLL_SECONDS = 0.01
SOCKET_TIMEOUT_SECONDS = 2.0
DYING_SECONDS = 3.0
MAX_PID_FILE_BYTES = 4_096

# Children stay known until reaped: a server may outlive the object that started it, but not become a zombie.
_children: dict[int, subprocess.Popen[bytes]] = {}


class StartFailed(RuntimeError):
    """The server ended before it was ready; why is in its log."""


@dataclass(frozen=True, slots=True)
class PidFile:
    """What the server wrote into `postmaster.pid` so far."""

    pid: int
    port: str
    socket_folder: Path | None
    status: str


@dataclass(frozen=True, slots=True)
class Postmaster:
    """The server of this cluster folder, run by this account (None: by ours)."""

    cluster: Path
    user: ServerUser | None

    def pid_file(self) -> PidFile | None:
        """The pid file's content; None without one or while it is being written."""
        try:
            with (self.cluster / "postmaster.pid").open(encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read(MAX_PID_FILE_BYTES).splitlines()
        except FileNotFoundError:
            return None
        lines += [""] * (8 - len(lines))
        if not lines[0].strip().isdecimal():
            return None
        return PidFile(int(lines[0]), lines[3], Path(lines[4]) if lines[4] else None, lines[7].strip())

    def is_live(self) -> bool:
        """Whether the process that the pid file names exists and is a server of this folder."""
        _reap()
        found = self.pid_file()
        return found is not None and self._is_ours(found.pid)

    def answers_unseen(self) -> bool:
        """Whether a server answers that is no process of ours to see; one that is just dying gets time to be gone."""
        give_up_at = time.monotonic() + DYING_SECONDS
        while not self.is_live() and self._socket_answers():
            if time.monotonic() > give_up_at:
                return True
            time.sleep(POLL_SECONDS)
        return False

    def start(self, binaries: Binaries, settings: Iterable[str], log: int) -> None:
        """Start and wait until it accepts connections, or wait for one that is starting; StartFailed, OSError.

        A killed server's children need a moment to notice; until then a new one refuses, so it is tried again. So it is
        when whoever started one was killed over it: that one may be about to win.
        """
        give_up_at = time.monotonic() + START_TIMEOUT_SECONDS
        retry_until = time.monotonic() + LEFTOVER_BACKENDS_SECONDS
        arguments = list(settings)
        socket_lock = _socket_lock(arguments)
        crashed = not self.is_live() and (self.pid_file() is not None or socket_lock.exists())
        while True:
            child = None
            if not self.is_live():
                for path in (self.cluster / "postmaster.pid", socket_lock):
                    _disown_stale_pid(path)
                child = self._spawn(binaries, arguments, log)
            if self._wait_until_ready(child, give_up_at):
                return
            crashed = crashed or self.pid_file() is not None
            if not crashed or time.monotonic() > min(retry_until, give_up_at):
                raise StartFailed
            time.sleep(POLL_SECONDS * 20)

    def stop(self) -> None:
        """Fast shutdown, then immediate; waits for the end. Nothing when it does not run; StartFailed never."""
        for how, patience_seconds in (
            (signal.SIGINT, FAST_STOP_SECONDS),
            (signal.SIGQUIT, IMMEDIATE_STOP_SECONDS),
        ):
            found = self.pid_file()
            if found is None or not self._is_ours(found.pid):
                return
            with suppress(ProcessLookupError):
                os.kill(found.pid, how)
            give_up_at = time.monotonic() + patience_seconds
            while self._is_ours(found.pid) and time.monotonic() < give_up_at:
                time.sleep(POLL_SECONDS)
                _reap()

    def _socket_answers(self) -> bool:
        found = self.pid_file()
        if found is None or found.socket_folder is None:
            return False
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(SOCKET_TIMEOUT_SECONDS)
            with suppress(OSError):
                client.connect(str(found.socket_folder / f".s.PGSQL.{found.port}"))
                return True
        return False

    def _spawn(self, binaries: Binaries, settings: list[str], log: int) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [str(binaries.folder / "postgres"), "-D", str(self.cluster), *settings],
            env=PROGRAM_ENVIRONMENT,
            cwd="/",
            umask=0o077,
            user=None if self.user is None else self.user.uid,
            group=None if self.user is None else self.user.gid,
            extra_groups=None if self.user is None else [],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C at the terminal ends us; the server is stopped by us, in order
        )
        _children[child.pid] = child
        return child

    def _wait_until_ready(self, child: subprocess.Popen[bytes] | None, give_up_at: float) -> bool:
        while time.monotonic() < give_up_at:
            found = self.pid_file()
            if found is not None and found.status == "ready" and (child is None or child.pid == found.pid):
                return self._is_ours(found.pid)
            if child is None:
                if not self.is_live():
                    return False
            elif child.poll() is not None:
                _children.pop(child.pid, None)
                return False
            time.sleep(POLL_SECONDS)
        return False

    def _is_ours(self, pid: int) -> bool:
        """The folder stands in its command line, and it runs as the cluster's owner; a zombie has neither."""
        process = Path(f"/proc/{pid}")
        expected = os.geteuid() if self.user is None else self.user.uid
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            return process.stat().st_uid == expected and os.fsencode(self.cluster) in words
        except (FileNotFoundError, ProcessLookupError):
            if Path("/proc/self").exists():
                return False
        # No /proc: macOS and the BSDs.
        command = ["ps", "-ww", "-o", "uid=,command=", "-p", str(pid)]
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        return listed.startswith(f"{expected} ") and f"postgres -D {self.cluster} " in listed


def _socket_lock(arguments: Iterable[str]) -> Path:
    """The lock file beside the socket that a server with these arguments opens."""
    given = dict(word.split("=", 1) for word in arguments if "=" in word)
    folder = given["unix_socket_directories"].strip('"').replace('""', '"')
    return Path(folder) / f".s.PGSQL.{given['port']}.lock"


def _disown_stale_pid(path: Path) -> None:
    """Put our pid in place of one that another program, or a zombie, has by now.

    PostgreSQL takes its parent's pid in a lock file as stale, and still looks at the shared memory that
    `postmaster.pid` names, so that a server which does live on that folder is never run over.
    """
    try:
        pid, _, rest = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return
    if not pid.strip().isdigit() or not _exists(int(pid)):
        return
    handle = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    with os.fdopen(handle, "wb") as file:
        file.write(b"%d\n" % os.getpid() + rest)


def _reap() -> None:
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            del _children[pid]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
