"""git for a checkout of strangers' files: no configuration but ours, no hooks, filters, helpers or prompts."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from boardreadyops.config import Secret
from boardreadyops.kicad.process import Finished, NotStarted, TimedOut, run_bounded

CHUNK_BYTES = 64 * 1024
MAX_ENTRY_BYTES = 64 * 1024  # one file name with its mode, kind and size
# Filters, line ends and encodings are undone: the bytes of the commit are what is checked.
PLAIN_ATTRIBUTES = "* -text !eol -ident !filter !working-tree-encoding\n"
SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.symlinks": "false",  # a link would lead the checks out of the checkout
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "credential.helper": "",
    "fetch.unpackLimit": "1",  # one growing pack file, whose size can be watched
    "gc.auto": "0",
    "http.followRedirects": "false",  # the token is for this address alone
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "protocol.http.allow": "always",
    "protocol.https.allow": "always",
    "protocol.file.allow": "never",
    "submodule.recurse": "false",
}


@dataclass(frozen=True, slots=True)
class Git:
    """The git program and the PATH it may look along."""

    program: str
    search_path: str

    async def run(
        self, folder: Path, *arguments: str, timeout_seconds: float, token: Secret | None = None
    ) -> Finished | TimedOut | NotStarted:
        """Run git in a folder; the token reaches it in its environment alone, never in arguments or files."""
        return await run_bounded(
            [self.program, *arguments],
            folder=folder,
            environment=self._environment(folder, token),
            timeout_seconds=timeout_seconds,
        )

    async def entries(self, folder: Path, commit: str) -> AsyncIterator[int]:
        """The size in bytes of each file of a commit, in order; the caller may stop at any time.

        A small pack can hold a tree of billions of entries, so nothing is gathered here.
        """
        process = await asyncio.create_subprocess_exec(
            self.program,
            *("ls-tree", "-r", "-l", "-z", commit),
            cwd=folder,
            env=dict(self._environment(folder, None)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            rest = b""
            while chunk := await process.stdout.read(CHUNK_BYTES):
                *complete, rest = (rest + chunk).split(b"\0")
                for entry in complete:
                    yield _size(entry)
                if len(rest) > MAX_ENTRY_BYTES:
                    raise ValueError("git names a file longer than any file system takes")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _environment(self, folder: Path, token: Secret | None) -> Mapping[str, str]:
        settings = dict(SETTINGS)
        if token is not None:
            login = base64.b64encode(f"x-access-token:{token.reveal()}".encode()).decode()
            settings["http.extraHeader"] = f"Authorization: Basic {login}"
        environment = {
            "PATH": self.search_path,
            "HOME": str(folder),
            "LC_ALL": "C",
            "GIT_ASKPASS": "",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for number, (name, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return environment


def _size(entry: bytes) -> int:
    words = entry.partition(b"\t")[0].split()
    return int(words[3]) if len(words) == 4 and words[3].isdigit() else 0  # a submodule has no size
