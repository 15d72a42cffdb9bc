"""A PostgreSQL of our own under DATA_DIR, for whoever has no other: started by the first user, stopped by the last.

postgres/cluster   the data, owned by the server's user, 0700
postgres/run       the socket; there is no TCP
postgres.password  the superuser's password, 0600
postgres.log       what the server says, cut when it is large
postgres.users     a shared lock for every process that uses the server
postgres.start     an exclusive lock around starting and stopping
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from types import MappingProxyType
from urllib.parse import quote

from boardreadyops.config import Secret, SettingsError, kept_secret, make_data_dir
from boardreadyops.db.binaries import (
    Binaries,
    EmbeddedPostgresError,
    ServerUser,
    binaries_for,
    open_way_for,
    server_user,
)
from boardreadyops.db.folder_lock import FolderInUse, exclusive, open_lock_file, share, try_exclusive
from boardreadyops.db.postmaster import Postmaster, StartFailed

SUPERUSER = "postgres"
SOCKET_PORT = 5432  # only part of the socket's name: nothing listens on TCP
START_LOCK_WAIT_SECONDS = 180.0
MAX_LOG_BYTES = 1 << 20
MAX_COMPLAINT_CHARACTERS = 500
MAX_SOCKET_PATH_BYTES = 103 if sys.platform == "darwin" else 107
BUILTIN_LOCALE_MAJOR = 17
MIN_SHARED_BUFFERS_MB = 64
MAX_SHARED_BUFFERS_MB = 512

_SERVER_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "autovacuum_max_workers": "2",
        "cluster_name": "boardreadyops",
        "dynamic_shared_memory_type": "posix",
        "fsync": "on",
        "huge_pages": "off",
        "jit": "off",
        "listen_addresses": "",
        "log_checkpoints": "off",
        "log_min_error_statement": "panic",  # statements carry data; the log is for the server's own troubles
        "log_min_messages": "log",
        "log_timezone": "UTC",
        "max_connections": "100",
        "max_wal_size": "1GB",
        "port": str(SOCKET_PORT),
        "timezone": "UTC",
        "unix_socket_permissions": "0700",
    }
)


def _shared_buffers() -> str:
    """An eighth of the machine's memory within bounds; PostgreSQL takes a page of it only when it first needs it."""
    machine_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return f"{min(max(machine_mb // 8, MIN_SHARED_BUFFERS_MB), MAX_SHARED_BUFFERS_MB)}MB"


class EmbeddedPostgres:
    """One use of the embedded server; `release()` ends it, and the last one to go stops the server."""

    def __init__(self, data_dir: Path, overrides: Mapping[str, str]) -> None:
        self._data_dir = data_dir
        self._overrides = dict(overrides)
        self._cluster = data_dir / "postgres" / "cluster"
        self._share: int | None = None
        self._socket_folder = data_dir / "postgres" / "run"
        self._user: ServerUser | None = None
        self.owner_dsn = Secret("")

    @classmethod
    def attach_or_start(
        cls, data_dir: Path, overrides: Mapping[str, str] = MappingProxyType({})
    ) -> EmbeddedPostgres:
        """Use the server of this folder: made, started or attached to, whatever it needs; EmbeddedPostgresError.

        `overrides` are server settings for a start, such as `fsync=off` in tests. Blocks for a second or so.
        """
        server = cls(data_dir.absolute(), overrides)
        with server._one_line_errors():
            server._enter()
        return server

    def ensure_running(self) -> None:
        """Start the server again if it died. At once when it runs or was released; EmbeddedPostgresError."""
        if not self._postmaster().is_live():
            with self._one_line_errors(), self._start_lock():
                if self._share is not None:
                    self._run()

    def release(self) -> None:
        """End this use; again: nothing. The last one stops the server and waits for it; EmbeddedPostgresError."""
        if self._share is None:
            return
        with self._one_line_errors(), self._start_lock():
            handle, self._share = self._share, None
            try:
                if try_exclusive(handle):
                    self._postmaster().stop()
            finally:
                os.close(handle)
            self._cut_log()

    @property
    def binaries(self) -> Binaries:
        """The programs of the running server's version, `pg_dump` among them."""
        with self._one_line_errors():
            return self._binaries()

    @property
    def user(self) -> ServerUser | None:
        """As whom the server runs when we are root."""
        return self._user

    def _enter(self) -> None:
        make_data_dir(self._data_dir)
        owner = self._data_dir.stat().st_uid
        if os.geteuid() not in {0, owner}:
            raise EmbeddedPostgresError(
                f"{self._data_dir} belongs to uid {owner}, not to you: run as that user or choose another DATA_DIR"
            )
        with self._start_lock():
            self._user = server_user(self._cluster)
            if self._user is not None:
                open_way_for(self._user, self._data_dir)
            handle = open_lock_file(self._data_dir / "postgres.users")
            try:
                share(handle)
                password = self._password()
                self._make_folder(self._data_dir / "postgres")
                self._remove_drafts()
                if not self._cluster.exists():
                    self._init(password)
                self._run()
            except BaseException:
                os.close(handle)
                raise
            self._share = handle
        self.owner_dsn = Secret(
            f"postgresql://{SUPERUSER}:{password.reveal()}@/postgres"
            f"?host={quote(str(self._socket_folder), safe='')}&port={SOCKET_PORT}"
        )

    def _run(self) -> None:
        postmaster = self._postmaster()
        self._socket_folder = self._choose_socket_folder()
        settings = {**_SERVER_SETTINGS, "shared_buffers": _shared_buffers(), **self._overrides}
        settings["unix_socket_directories"] = '"' + str(self._socket_folder).replace('"', '""') + '"'
        arguments = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        if postmaster.answers_unseen():
            raise EmbeddedPostgresError(
                f"a server that is none of our processes answers for {self._cluster}, from another container perhaps:"
                " stop it, or choose another DATA_DIR"
            )
        self._cut_log()
        log_path = self._data_dir / "postgres.log"
        log = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        start = os.fstat(log).st_size
        try:
            postmaster.start(self._binaries(), arguments, log)
        except StartFailed:
            raise EmbeddedPostgresError(
                f"the embedded PostgreSQL does not start: {_last_complaint(log_path, start)} (log: {log_path})"
            ) from None
        finally:
            os.close(log)
        found = postmaster.pid_file()
        if found is not None and found.socket_folder is not None:
            self._socket_folder = found.socket_folder

    def _init(self, password: Secret) -> None:
        """Make the cluster under another name first: what `cluster` names is always complete."""
        binaries = self._binaries()
        folder = self._data_dir / "postgres"
        draft = folder / f"cluster.new-{os.urandom(6).hex()}"
        locale = ["--no-locale"]
        if binaries.major >= BUILTIN_LOCALE_MAJOR:
            locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        with tempfile.NamedTemporaryFile("w", dir=self._data_dir, prefix=".pw-", encoding="ascii") as file:
            file.write(password.reveal() + "\n")
            file.flush()
            if self._user is not None:
                os.chown(file.fileno(), self._user.uid, self._user.gid)
            sync = ["--no-sync"] if self._overrides.get("fsync") == "off" else []
            made = binaries.run(
                *(
                    "initdb",
                    "-D",
                    str(draft),
                    "--username",
                    SUPERUSER,
                    "--pwfile",
                    file.name,
                    "--encoding=UTF8",
                ),
                *("--auth=scram-sha-256", "--data-checksums", "--no-instructions", *locale, *sync),
                user=self._user,
            )
        if made.returncode != 0:
            reason = _complaint(made.stderr.splitlines())
            raise EmbeddedPostgresError(f"the embedded database cannot be made in {folder}: {reason}")
        draft.rename(self._cluster)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def _remove_drafts(self) -> None:
        for draft in (self._data_dir / "postgres").glob("cluster.new-*"):
            # An initdb that outlived its killed caller may still be writing: it fails now, the rest goes next time.
            shutil.rmtree(draft, ignore_errors=True)

    def _password(self) -> Secret:
        path = self._data_dir / "postgres.password"
        if self._cluster.exists() and not path.exists():
            raise EmbeddedPostgresError(
                f"{path} is missing but belongs to the database beside it: put it back"
            )
        return kept_secret(path)

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        if self._user is not None:
            os.chown(folder, self._user.uid, self._user.gid)

    def _choose_socket_folder(self) -> Path:
        """Beside the data; in a private temporary folder, remembered, when that path is no good for a socket."""
        beside = self._data_dir / "postgres" / "run"
        fits = len(os.fsencode(f"{beside}/.s.PGSQL.{SOCKET_PORT}")) <= MAX_SOCKET_PATH_BYTES
        if fits and "," not in str(
            beside
        ):  # clients read a comma as the end of one host and the start of another
            self._make_folder(beside)
            return beside
        record = self._data_dir / "postgres.socket_folder"
        if record.exists():
            remembered = Path(os.fsdecode(record.read_bytes()))
            expected = os.geteuid() if self._user is None else self._user.uid
            with suppress(FileNotFoundError):
                status = remembered.lstat()
                if stat.S_ISDIR(status.st_mode) and status.st_uid == expected and status.st_mode & 0o077 == 0:
                    return remembered
        folder = Path(tempfile.mkdtemp(prefix="boardreadyops-", dir="/tmp"))
        self._make_folder(folder)
        record.write_bytes(os.fsencode(folder))
        return folder

    def _binaries(self) -> Binaries:
        major = None
        with suppress(FileNotFoundError):
            major = int((self._cluster / "PG_VERSION").read_text(encoding="ascii"))
        return binaries_for(self._user, major, self._data_dir / "postgres.programs")

    def _postmaster(self) -> Postmaster:
        return Postmaster(self._cluster, self._user)

    def _cut_log(self) -> None:
        """The server appends, so cutting the file under it is safe; the end of the old text is kept."""
        path = self._data_dir / "postgres.log"
        with suppress(FileNotFoundError):
            if path.stat().st_size > MAX_LOG_BYTES:
                with path.open("r+b") as file:
                    file.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
                    tail = file.read().partition(b"\n")[2]
                    file.truncate(0)
                    file.seek(0)
                    file.write(tail)

    @contextmanager
    def _start_lock(self) -> Iterator[None]:
        with exclusive(self._data_dir / "postgres.start", wait_seconds=START_LOCK_WAIT_SECONDS):
            yield

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename if error.filename is not None else self._data_dir
            raise EmbeddedPostgresError(
                f"the embedded database in {self._data_dir} cannot be used: {error.strerror or error}: {place}"
            ) from error
        except TimeoutExpired as error:
            raise EmbeddedPostgresError(f"initdb did not end within {error.timeout:.0f} seconds") from error
        except (FolderInUse, SettingsError) as error:
            raise EmbeddedPostgresError(str(error)) from error


def _last_complaint(log_path: Path, start: int) -> str:
    with log_path.open("rb") as log:
        log.seek(start)
        lines = log.read(MAX_LOG_BYTES).decode("utf-8", "replace").splitlines()
    return _complaint(lines)


def _complaint(lines: list[str]) -> str:
    """The first line that says why, without its time and process; what comes after it are consequences."""
    for line in lines:
        for mark in ("PANIC:", "FATAL:", "error:"):
            if mark in line:
                return line.partition(mark)[2].strip()[:MAX_COMPLAINT_CHARACTERS]
    return (lines or ["it said nothing"])[-1].strip()[:MAX_COMPLAINT_CHARACTERS]
