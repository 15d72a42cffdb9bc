"""Find kicad-cli and learn its version."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from boardreadyops.kicad.messages import clean
from boardreadyops.kicad.outcome import CouldNotReason
from boardreadyops.kicad.process import Finished, NotStarted, TimedOut, run_bounded

OLDEST_MAJOR = 8  # DRC and ERC exist from kicad-cli 8 on
PROBE_TIMEOUT_SECONDS = 30.0  # kicad-cli must tell its version within
DEFAULT_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/Applications/KiCad/KiCad.app/Contents/MacOS"
_VERSION = re.compile(r"^\s*v?((\d{1,4})\.\d{1,4}(?:\.\d{1,4})?)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KicadCli:
    """A usable kicad-cli: where it is, and its version such as `9.0.8`."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No usable kicad-cli, and why, in one line."""

    reason: CouldNotReason
    detail: str


async def probe(
    path: Path | None = None, *, search_path: str = DEFAULT_SEARCH_PATH
) -> KicadCli | Unavailable:
    """Look at `path`, or along `search_path`, and ask the program for its version."""
    found = shutil.which(str(path) if path else "kicad-cli", path=search_path)
    if found is None:
        missing = f"is not at {path}" if path else "is not on PATH"
        return Unavailable(CouldNotReason.MISSING_TOOL, f"kicad-cli {missing}: install KiCad 8 or newer")
    program = Path(found).absolute()
    with TemporaryDirectory(prefix="boardreadyops-probe-", ignore_cleanup_errors=True) as folder:
        ended = await run_bounded(
            [str(program), "version"],
            folder=Path(folder),
            environment=private_environment(Path(folder)),
            timeout_seconds=PROBE_TIMEOUT_SECONDS,
        )
    return _usable(program, ended)


def private_environment(workspace: Path) -> Mapping[str, str]:
    """All that kicad-cli may know of us: nothing inherited, every writable place inside the workspace.

    The same board gave 1 or 63 findings depending on the KiCad configuration folder, so it is ours and empty.
    """
    home = workspace / "home"
    places = {
        "HOME": home,
        "KICAD_CONFIG_HOME": home / "kicad",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_DATA_HOME": home / "data",
        "XDG_RUNTIME_DIR": home / "runtime",
        "TMPDIR": home / "tmp",
    }
    for place in places.values():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    fixed = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return fixed | {name: str(place) for name, place in places.items()}


def _usable(program: Path, ended: Finished | TimedOut | NotStarted) -> KicadCli | Unavailable:
    match ended:
        case NotStarted(detail):
            return Unavailable(
                CouldNotReason.MISSING_TOOL, f"{program} cannot be started: {clean(detail, 200)}"
            )
        case TimedOut(after_seconds):
            words = f"{program} did not tell its version in {after_seconds:.0f} s"
            return Unavailable(CouldNotReason.TIMED_OUT, words)
        case Finished(exit_code, stdout, _, _):
            found = _VERSION.search(stdout)
            if exit_code != 0 or found is None:
                words = f"{program} did not tell its version (exit code {exit_code})"
                return Unavailable(CouldNotReason.UNEXPECTED_EXIT, words)
            if int(found.group(2)) < OLDEST_MAJOR:
                words = f"kicad-cli {found.group(1)} is too old: DRC and ERC need {OLDEST_MAJOR} or newer"
                return Unavailable(CouldNotReason.TOOL_TOO_OLD, words)
            return KicadCli(program, found.group(1))
