"""A private folder for each lease, gone afterwards, also after a kill: the next start removes what is left."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PREFIX = "lease-"


@contextmanager
def private_workspace(work_folder: Path) -> Iterator[Path]:
    """A new empty folder while the block runs. OSError."""
    with _locked(work_folder):
        folder = TemporaryDirectory(prefix=PREFIX, dir=work_folder, ignore_cleanup_errors=True)
        handle = os.open(folder.name, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)  # held as long as we live; `remove_abandoned` respects it
    try:
        with folder:
            yield Path(folder.name)
    finally:
        os.close(handle)


def remove_abandoned(work_folder: Path) -> int:
    """Remove the folders of runners that were killed; those in use stay. How many. OSError."""
    removed = 0
    with _locked(work_folder):
        for folder in sorted(work_folder.glob(f"{PREFIX}*")):
            try:
                handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            else:
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
            finally:
                os.close(handle)
    return removed


@contextmanager
def _locked(work_folder: Path) -> Iterator[None]:
    """Between making a folder and locking it, nobody may take it for abandoned."""
    work_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(work_folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
