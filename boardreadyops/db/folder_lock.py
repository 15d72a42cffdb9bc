"""Locks on a data folder that end with the process that holds them, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from boardreadyops.config import make_data_dir

LOCK_POLL_SECONDS = 0.02


class FolderInUse(RuntimeError):
    """Somebody else works on this folder. The text is one line and names the process where it is known."""


@contextmanager
def folder_lock(data_dir: Path, name: str) -> Iterator[None]:
    """Be the only `name` (such as `serve`) on this folder while the block runs; FolderInUse, OSError."""
    make_data_dir(data_dir)
    handle = open_lock_file(data_dir / f"{name}.lock")
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise FolderInUse(
                f"{data_dir} is in use by another {name} (process {holder}): stop it, or choose another DATA_DIR"
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(handle)


@contextmanager
def exclusive(path: Path, *, wait_seconds: float) -> Iterator[None]:
    """Hold this lock file alone while the block runs; FolderInUse when it stays taken for `wait_seconds`."""
    handle = open_lock_file(path)
    try:
        give_up_at = time.monotonic() + wait_seconds
        while not try_exclusive(handle):
            if time.monotonic() > give_up_at:
                raise FolderInUse(
                    f"{path} stays locked by another process for {wait_seconds:.0f} seconds: stop it"
                )
            time.sleep(LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(handle)


def open_lock_file(path: Path) -> int:
    """A handle for locking; lock files are never deleted, or two processes could lock two files of one name."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def share(handle: int) -> None:
    """Be one of several holders; waits for an exclusive one."""
    fcntl.flock(handle, fcntl.LOCK_SH)


def try_exclusive(handle: int) -> bool:
    """Whether this handle is now the only holder. A share held through it is given up either way."""
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
