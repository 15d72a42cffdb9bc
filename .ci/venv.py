"""Make .venv hold exactly what a requirements file pins, and this project itself.

    python3 .ci/venv.py requirements.txt        what the program needs
    python3 .ci/venv.py requirements-dev.txt    that, and what tests and checks need

Idempotent and quick when nothing changed. Two at once: the second waits for the first. Cut off half-way: the
next one starts over, because the stamp is written last. Exit 0: ready; 1: not, and one line says why.
"""

import sys

if sys.version_info < (3, 11):  # before the imports that an old Python may lack
    sys.exit(
        "BoardReadyOps needs Python 3.11 or newer, %s is %d.%d: say e.g. `make PYTHON=python3.12 ...`"
        % (sys.executable, *sys.version_info[:2])
    )

import fcntl
import hashlib
import os
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "stamp"
INCLUDED_IN = {"requirements.txt": "requirements-dev.txt"}


class InstallFailed(Exception):
    """A command failed; its output is the message."""


def key(requirements: str) -> str:
    """Name the content a stamp stands for: the pins, the project's own metadata, the Python, the place."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = (metadata["project"], metadata["build-system"], str(ROOT), sys.version_info[:3])
    digest = hashlib.sha256((ROOT / requirements).read_bytes() + repr(parts).encode())
    return "%s %s" % (requirements, digest.hexdigest())


def stamped() -> set[str]:
    """Return the keys of what is installed completely; empty if the Python underneath is gone."""
    if not (STAMP.is_file() and PYTHON.exists()):
        return set()
    return set(STAMP.read_text().splitlines())


def run(*command: str | Path) -> None:
    """Run quietly; on failure raise with everything the command said."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        close_fds=False,
    )
    if done.returncode:
        raise InstallFailed("%s\n%s" % (" ".join(map(str, command)), done.stdout))


def create(uv: str | None) -> None:
    """Create an empty .venv in place of what is there."""
    shutil.rmtree(VENV, ignore_errors=True)
    if uv:
        run(uv, "venv", "--quiet", "--python", sys.executable, VENV)
        return
    try:
        run(sys.executable, "-m", "venv", VENV)
    except InstallFailed as failure:
        raise InstallFailed("%s(Debian and Ubuntu: apt-get install python3-venv)" % failure) from failure


def install(requirements: str, uv: str | None) -> None:
    """Install the pins by hash, then the project on top: editable, without isolation, without dependencies."""
    tool: tuple[str | Path, ...] = (PYTHON, "-m", "pip", "--disable-pip-version-check")
    flags: tuple[str, ...] = ("--no-input",)
    if uv:
        tool, flags = (uv, "pip"), ("--python", str(PYTHON))
    run(*tool, "install", "--quiet", *flags, "--require-hashes", "-r", requirements)
    run(*tool, "install", "--quiet", *flags, "--no-build-isolation", "--no-deps", "-e", ".")


def build(requirements: str, uv: str | None) -> None:
    """Bring .venv from wherever it is to `requirements`; a changed pin starts from nothing."""
    done = stamped()
    if not done or not done <= {key(name) for name in ("requirements.txt", "requirements-dev.txt")}:
        create(uv)
        done = set()
    STAMP.unlink(missing_ok=True)
    install(requirements, uv)
    STAMP.write_text("\n".join(sorted(done | {key(requirements)})) + "\n")


def main(requirements: str) -> int:
    """Do it under a lock that dies with this process."""
    wanted = {key(name) for name in (requirements, INCLUDED_IN.get(requirements, requirements))}
    if stamped() & wanted:
        return 0
    with (ROOT / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Children hold it too: if this process is killed, the next one waits for the pip it left behind.
        os.set_inheritable(lock.fileno(), True)
        if stamped() & wanted:
            return 0
        started = time.monotonic()
        print("installing %s into .venv (once) ..." % requirements, file=sys.stderr, flush=True)
        uv = shutil.which("uv")
        try:
            try:
                build(requirements, uv)
            except InstallFailed as failure:
                if uv is None:
                    raise
                # pip knows mirrors and proxies that uv does not: it deserves its own try.
                print("uv could not: %s\ntrying pip ..." % failure, file=sys.stderr, flush=True)
                build(requirements, None)
        except InstallFailed as failure:
            print("error: .venv is not ready: %s" % failure, file=sys.stderr)
            return 1
        print("ready after %.0f s" % (time.monotonic() - started), file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (ROOT / sys.argv[1]).is_file():
        sys.exit("usage: python3 .ci/venv.py requirements.txt|requirements-dev.txt")
    sys.exit(main(sys.argv[1]))
