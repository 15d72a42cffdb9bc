"""Fetch exactly one commit: shallow, bounded in time and size, its bytes as they were committed."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import shutil
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from boardreadyops.agent.backoff import Backoff
from boardreadyops.agent.git import PLAIN_ATTRIBUTES, Git
from boardreadyops.config import Secret
from boardreadyops.kicad.messages import clean
from boardreadyops.kicad.process import Finished, NotStarted, TimedOut

FETCH_TIMEOUT_SECONDS = 600.0
LOCAL_TIMEOUT_SECONDS = 300.0  # git commands that need no network
FETCH_ATTEMPTS = 6  # some 15 s of pauses in all
MAX_PACK_BYTES = 1024 * 1024 * 1024
MAX_TREE_BYTES = 2 * 1024 * 1024 * 1024
MAX_TREE_FILES = 100_000
SIZE_LOOK_SECONDS = 0.2  # how often the growing pack is looked at
MAX_LOGGED_CHARACTERS = 300

_log = logging.getLogger(__name__)


class SourceProblem(StrEnum):
    """Why there is no checkout, as a sentence for the owner of the board."""

    NO_GIT = "git is not installed on the runner"
    BAD_ADDRESS = "the server named a clone address that the runner does not use"
    DENIED = "the repository could not be read with the token that GitHub gave"
    GONE = "the repository or the commit is no longer there"
    UNREACHABLE = "the commit could not be fetched from GitHub"
    TOO_SLOW = "fetching the commit took too long"
    TOO_LARGE = "the repository is larger than the runner takes"
    OTHER_COMMIT = "the fetched commit is not the one that was asked for"
    UNREADABLE = "the commit's files could not be written"
    NO_TOKEN = "the server could not give a token that reads the repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutLimits:
    """How large and slow a repository may be."""

    pack_bytes: int = MAX_PACK_BYTES
    tree_bytes: int = MAX_TREE_BYTES
    tree_files: int = MAX_TREE_FILES
    fetch_timeout_seconds: float = FETCH_TIMEOUT_SECONDS
    fetch_attempts: int = FETCH_ATTEMPTS


@dataclass(frozen=True, slots=True)
class Source:
    """Where a commit is, and a token that reads it."""

    clone_url: str
    commit_sha: str
    token: Secret


async def checkout(
    source: Source, folder: Path, *, search_path: str, limits: CheckoutLimits
) -> SourceProblem | None:
    """Put the commit's files into an existing empty folder; None when they are there, complete."""
    program = shutil.which("git", path=search_path)
    if program is None:
        return SourceProblem.NO_GIT
    if not usable_address(source.clone_url):
        return SourceProblem.BAD_ADDRESS
    git = Git(program, search_path)
    object_format = "sha256" if len(source.commit_sha) == 64 else "sha1"
    begin = ("init", "--quiet", "--template=", f"--object-format={object_format}")
    problem = _local(await git.run(folder, *begin, timeout_seconds=LOCAL_TIMEOUT_SECONDS))
    if problem is None:
        (folder / ".git" / "info").mkdir(exist_ok=True)
        (folder / ".git" / "info" / "attributes").write_text(PLAIN_ATTRIBUTES, encoding="ascii")
        problem = await _fetch(git, source, folder, limits)
    if problem is None:
        problem = await _write_files(git, source.commit_sha, folder, limits)
    return problem


def usable_address(url: str) -> bool:
    """Whether a token may be sent there: https, or plain http to this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url and "@" not in parts.netloc
    return (
        plain and bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))
    )


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine for certain."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _fetch(git: Git, source: Source, folder: Path, limits: CheckoutLimits) -> SourceProblem | None:
    backoff = Backoff()
    problem: SourceProblem | None = SourceProblem.UNREACHABLE
    for attempt in range(1, limits.fetch_attempts + 1):
        problem = await _fetch_once(git, source, folder, limits)
        if problem is not SourceProblem.UNREACHABLE:
            return problem
        if attempt < limits.fetch_attempts:
            await asyncio.sleep(backoff.pause_seconds())
    return problem


async def _fetch_once(git: Git, source: Source, folder: Path, limits: CheckoutLimits) -> SourceProblem | None:
    options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
    fetching = asyncio.create_task(
        git.run(
            folder,
            *("fetch", *options, "--", source.clone_url, source.commit_sha),
            timeout_seconds=limits.fetch_timeout_seconds,
            token=source.token,
        )
    )
    try:
        while not fetching.done():
            await asyncio.wait({fetching}, timeout=SIZE_LOOK_SECONDS)
            if _folder_bytes(folder / ".git") > limits.pack_bytes:
                return SourceProblem.TOO_LARGE
    finally:
        fetching.cancel()
        await asyncio.wait({fetching})
    ended = fetching.result()
    match ended:
        case TimedOut():
            return SourceProblem.TOO_SLOW
        case NotStarted(detail):
            _log.warning("git cannot be started: %s", detail)
            return SourceProblem.NO_GIT
        case Finished(exit_code=0):
            return None
        case Finished():
            _log.warning("git fetch failed: %s", clean(ended.stderr, MAX_LOGGED_CHARACTERS))
            return _fetch_problem(ended.stderr)


async def _write_files(git: Git, sha: str, folder: Path, limits: CheckoutLimits) -> SourceProblem | None:
    if not await _has_commit(git, "FETCH_HEAD", sha, folder):
        return SourceProblem.OTHER_COMMIT
    total_bytes = files = 0
    async for size in git.entries(folder, sha):
        files, total_bytes = files + 1, total_bytes + size
        if files > limits.tree_files or total_bytes > limits.tree_bytes:
            return SourceProblem.TOO_LARGE
    command = ("-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", "--detach", sha)
    problem = _local(await git.run(folder, *command, timeout_seconds=LOCAL_TIMEOUT_SECONDS))
    if problem is None and not await _has_commit(git, "HEAD", sha, folder):
        return SourceProblem.OTHER_COMMIT
    return problem


async def _has_commit(git: Git, name: str, sha: str, folder: Path) -> bool:
    command = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    ended = await git.run(folder, *command, timeout_seconds=LOCAL_TIMEOUT_SECONDS)
    return isinstance(ended, Finished) and ended.exit_code == 0 and ended.stdout.strip() == sha


def _local(ended: Finished | TimedOut | NotStarted) -> SourceProblem | None:
    if isinstance(ended, Finished) and ended.exit_code == 0:
        return None
    words = ended.stderr if isinstance(ended, Finished) else repr(ended)
    _log.warning("git failed: %s", clean(words, MAX_LOGGED_CHARACTERS))
    return SourceProblem.UNREADABLE


def _fetch_problem(stderr: str) -> SourceProblem:
    words = stderr.lower()
    if any(mark in words for mark in ("not our ref", "remote ref", "unadvertised object")):
        return SourceProblem.GONE
    if any(mark in words for mark in ("authentication failed", "could not read username", "error: 403")):
        return SourceProblem.DENIED
    if "' not found" in words or "error: 404" in words:
        return SourceProblem.GONE
    return SourceProblem.UNREACHABLE


def _folder_bytes(folder: Path) -> int:
    total_bytes = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # git renames its files while we look
            total_bytes += path.lstat().st_size
    return total_bytes
