"""git fetch over smart HTTP: `git http-backend` as a CGI program behind our own authorisation."""

import asyncio
import contextlib
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from functools import cache
from pathlib import Path

from boardreadyops.standin.git_store import git, git_environment

SERVICE = "git-upload-pack"
MAXIMUM_REQUEST_BYTES = 10_000_000
MAXIMUM_HEADER_BYTES = 65_536
CHUNK_BYTES = 65_536
HEADER_TIMEOUT_SECONDS = 60
CHALLENGE = {"www-authenticate": 'Basic realm="GitHub"', "content-type": "text/plain; charset=utf-8"}


@cache
def backend() -> str:
    """Return the path of git-http-backend; FileNotFoundError without it."""
    exec_path = subprocess.run(
        [git(), "--exec-path"], capture_output=True, check=True, text=True, env=git_environment()
    )
    program = Path(exec_path.stdout.strip()) / "git-http-backend"
    if not program.exists():
        raise FileNotFoundError("git http-backend is not installed")
    return str(program)


def permitted(method: str, service_path: str, query: str) -> bool:
    """Return whether this is one of the two requests of a smart fetch; everything else, pushes too, is refused."""
    if method == "GET":
        return service_path == "info/refs" and query == f"service={SERVICE}"
    return method == "POST" and service_path == SERVICE and query == ""


async def serve(
    folder: Path, service_path: str, *, method: str, query: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, dict[str, str], AsyncIterator[bytes]]:
    """Run the backend on one bare repository; return status, headers and the streamed body.

    Only a permitted `service_path` may come here: the path below the repository is never a client's own.
    """
    environment = git_environment() | {
        "GIT_PROJECT_ROOT": str(folder.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{folder.name}/{service_path}",
        "REQUEST_METHOD": method,
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    process = await asyncio.create_subprocess_exec(
        backend(),
        stdin=PIPE,
        stdout=PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        limit=MAXIMUM_HEADER_BYTES,
    )
    feeding = asyncio.create_task(_feed(process, body))
    try:
        async with asyncio.timeout(HEADER_TIMEOUT_SECONDS):
            status, answer_headers = await _head(process)
    except BaseException:
        await _end(process, feeding)
        raise
    return status, answer_headers, _chunks(process, feeding)


async def _feed(process: Process, body: bytes) -> None:
    if process.stdin is None:
        raise RuntimeError("the backend has no standard input")
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(body)
        await process.stdin.drain()
    process.stdin.close()


async def _head(process: Process) -> tuple[int, dict[str, str]]:
    if process.stdout is None:
        raise RuntimeError("the backend has no standard output")
    status, headers = 200, {}
    while line := (await process.stdout.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers[name.lower()] = value.strip()
    return status, headers


async def _chunks(process: Process, feeding: asyncio.Task[None]) -> AsyncIterator[bytes]:
    try:
        if process.stdout is not None:
            while chunk := await process.stdout.read(CHUNK_BYTES):
                yield chunk
    finally:
        await _end(process, feeding)


async def _end(process: Process, feeding: asyncio.Task[None]) -> None:
    # A client that hangs up early must not leave a backend behind.
    if process.returncode is None and process.stdout is not None and not process.stdout.at_eof():
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    feeding.cancel()
    await process.wait()
