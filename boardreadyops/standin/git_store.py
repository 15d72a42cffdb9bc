"""Bare git repositories and commits that have the same SHA on every machine."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

GIT_TIMEOUT_SECONDS = 60
COMMIT_DATE = "1735689600 +0000"
"""Every commit is made at this time (2025-01-01T00:00:00Z), so that the same files give the same SHA."""
AUTHOR = "Board Designer <designer@example.com>"
MAXIMUM_TREE_BYTES = 200_000_000

SETTINGS = """
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[transfer]
	hideRefs = refs/standin
[http]
	receivepack = false
[gc]
	auto = 0
"""

Tree = Path | Mapping[str, bytes]
"""The files of a commit: a folder, or contents by relative POSIX path."""


def git_environment() -> dict[str, str]:
    """Return an environment in which git sees no configuration but the repository's own."""
    executable = git()
    return {
        "PATH": str(Path(executable).parent),
        "HOME": "/nonexistent",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def git() -> str:
    """Return the path of git; FileNotFoundError without one."""
    executable = shutil.which("git")
    if executable is None:
        raise FileNotFoundError("git is not installed")
    return executable


def create_bare(folder: Path) -> None:
    """Create an empty bare repository that serves any commit by its SHA, as GitHub does."""
    folder.mkdir(parents=True)
    _run(folder, "init", "--quiet", "--bare", "--initial-branch=main", ".")
    with (folder / "config").open("a", encoding="utf-8") as config:
        config.write(SETTINGS)


def commit_tree(folder: Path, tree: Tree, message: str, parent: str | None) -> str:
    """Commit exactly these files and return the SHA; the same tree, message and parent give the same SHA. Idempotent."""
    files = sorted(_files(tree))
    if sum(len(content) for _, content in files) > MAXIMUM_TREE_BYTES:
        raise ValueError(f"a commit holds at most {MAXIMUM_TREE_BYTES} bytes")
    text = message.encode()
    # fast-import takes bytes as they are: no filters, no line endings, no modes of this machine. It wants a ref to
    # commit to; a hidden one does, and as nothing collects garbage here, the commits it leaves behind stay.
    lines = [b"commit refs/standin/incoming\n", b"mark :1\n", f"author {AUTHOR} {COMMIT_DATE}\n".encode()]
    lines += [f"committer {AUTHOR} {COMMIT_DATE}\ndata {len(text)}\n".encode(), text, b"\n"]
    if parent is not None:
        lines += [f"from {parent}\n".encode(), b"deleteall\n"]
    for path, content in files:
        lines += [f"M 100644 inline {_quoted(path)}\ndata {len(content)}\n".encode(), content, b"\n"]
    lines += [b"\nget-mark :1\n", b"done\n"]
    command = ("fast-import", "--quiet", "--force", "--done", "--date-format=raw")
    return _run(folder, *command, stdin=b"".join(lines)).strip()


def set_ref(folder: Path, ref: str, sha: str) -> None:
    """Point a ref at a commit. Idempotent."""
    _run(folder, "update-ref", ref, sha)


def _files(tree: Tree) -> Iterator[tuple[str, bytes]]:
    if isinstance(tree, Path):
        for path in tree.rglob("*"):
            if path.is_symlink():
                raise ValueError(f"a commit holds plain files only, not the link {path}")
            if path.is_file():
                yield _checked(path.relative_to(tree).as_posix()), path.read_bytes()
    else:
        for name, content in tree.items():
            yield _checked(name), content


def _checked(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\0" in path:
        raise ValueError(f"{path!r} cannot be a path in a commit")
    return path


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _run(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    command = [git(), "-c", "core.autocrlf=false", "-C", str(folder), *arguments]
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        env=git_environment(),
        timeout=GIT_TIMEOUT_SECONDS,
        check=False,
        start_new_session=True,  # a Ctrl-C at the terminal is for the demo, which ends in order
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()
