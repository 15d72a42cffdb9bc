"""One KiCad project's files, and what its project file says about the checks themselves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath

PROJECT_FILE_LIMIT_BYTES = 8 * 1024 * 1024  # a larger .kicad_pro is not believed
DIGEST_FILES_LIMIT = 2_000  # a project with more files has no recorded reports
DIGEST_BYTES_LIMIT = 256 * 1024 * 1024  # nor has one with larger files
_DIGESTED_SUFFIXES = frozenset(
    {".kicad_pro", ".kicad_pcb", ".kicad_sch", ".kicad_dru", ".kicad_sym", ".kicad_mod", ".kicad_wks"}
)
_DIGESTED_NAMES = frozenset({"fp-lib-table", "sym-lib-table"})


def shown_path(path: PurePath) -> str:
    """A path as text with `/`, without control characters or bytes that are no UTF-8."""
    valid = path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in valid)


@dataclass(frozen=True, slots=True)
class KicadProject:
    """A project in a checkout. `id` is its path without suffix, from the checkout's root, with `/`."""

    id: str
    root: Path
    folder: Path
    project_file: Path
    board: Path | None
    schematic: Path | None
    rules: Path | None

    def relative(self, path: Path) -> str:
        """The path from the checkout's root, with `/`; what cannot be shown is replaced."""
        return shown_path(path.relative_to(self.root))


@dataclass(frozen=True, slots=True)
class Unusable:
    """The project file cannot be believed, and why."""

    detail: str


@dataclass(frozen=True, slots=True)
class Severities:
    """The rules that a project file sets to `ignore`."""

    drc_ignored: frozenset[str]
    erc_ignored: frozenset[str]


def read_severities(project: KicadProject) -> Severities | Unusable:
    """Read the project file as KiCad should have: a broken one means default rules without a word."""
    try:
        if project.project_file.stat().st_size > PROJECT_FILE_LIMIT_BYTES:
            return Unusable(f"it is larger than {PROJECT_FILE_LIMIT_BYTES} bytes")
        document = json.loads(project.project_file.read_text(encoding="utf-8"))
    except OSError as error:
        return Unusable(f"it cannot be read: {error.strerror}")
    except (ValueError, RecursionError):
        return Unusable("it is not valid JSON, so KiCad would silently use default rules")
    drc = _ignored(document, "board", "design_settings", "rule_severities")
    erc = _ignored(document, "erc", "rule_severities")
    if drc is None or erc is None:
        return Unusable("its rule severities are damaged, so KiCad would silently use default rules")
    return Severities(drc, erc)


def _ignored(document: object, *keys: str) -> frozenset[str] | None:
    """The rules set to `ignore`; none where the section is missing; None where it is damaged."""
    value = document
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key, {})
    if not isinstance(value, Mapping):
        return None
    return frozenset(str(rule) for rule, severity in value.items() if severity == "ignore")


def files_digest(project: KicadProject) -> str | None:
    """SHA-256 of every KiCad file in the project's folder with its name; None beyond the limits."""
    total_bytes = 0
    marks: list[str] = []
    for path in sorted(project.folder.rglob("*")):
        if path.suffix not in _DIGESTED_SUFFIXES and path.name not in _DIGESTED_NAMES:
            continue
        if path.is_symlink() or not path.is_file():
            continue
        total_bytes += path.stat().st_size
        if len(marks) >= DIGEST_FILES_LIMIT or total_bytes > DIGEST_BYTES_LIMIT:
            return None
        name = path.relative_to(project.folder).as_posix()
        marks.append(f"{name} {sha256(path.read_bytes()).hexdigest()}")
    return "sha256:" + sha256("\n".join(marks).encode("utf-8", "surrogateescape")).hexdigest()
