"""Find the KiCad projects of a checkout."""

import os
from dataclasses import dataclass
from pathlib import Path

from boardreadyops.kicad.project import KicadProject, shown_path

PROJECTS_LIMIT = 50  # KiCad projects checked in one repository
ENTRIES_LIMIT = 200_000  # files and folders looked at
_SKIPPED_ENDINGS = ("-backups", ".pretty", ".3dshapes")
_KICAD_SUFFIXES = frozenset({".kicad_pro", ".kicad_pcb", ".kicad_sch", ".kicad_dru"})


@dataclass(frozen=True, slots=True)
class FoundProjects:
    """What a checkout holds; `problems` are reasons not to trust that this is all of it."""

    projects: tuple[KicadProject, ...]
    lone_boards: tuple[str, ...]
    problems: tuple[str, ...]


def find_projects(root: Path) -> FoundProjects:
    """Look through `root`; hidden and backup folders are skipped, links to folders are not followed."""
    files, problems = _kicad_files(root)
    found = []
    for file in files:
        if file.suffix == ".kicad_pro":
            name = shown_path(file.relative_to(root).with_suffix(""))
            board, schematic, rules = (
                path if (path := file.with_suffix(suffix)).is_file() else None
                for suffix in (".kicad_pcb", ".kicad_sch", ".kicad_dru")
            )
            found.append(KicadProject(name, root, file.parent, file, board, schematic, rules))
    if len(found) > PROJECTS_LIMIT:
        problems.append(
            f"the repository has {len(found)} KiCad projects, more than the {PROJECTS_LIMIT} checked"
        )
    owned = {project.board for project in found}
    lone = (
        shown_path(file.relative_to(root))
        for file in files
        if file.suffix == ".kicad_pcb" and file not in owned
    )
    return FoundProjects(tuple(found[:PROJECTS_LIMIT]), tuple(lone)[:PROJECTS_LIMIT], tuple(problems))


def _kicad_files(root: Path) -> tuple[list[Path], list[str]]:
    """Every KiCad file in a fixed order, and why the list may not be all."""
    inside = root.resolve()
    files: list[Path] = []
    problems: list[str] = []
    entries = 0
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not _is_skipped(name))
        entries += len(folders) + len(names)
        if entries > ENTRIES_LIMIT:
            problems.append(f"the repository has more than {ENTRIES_LIMIT} files and folders")
            break
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix not in _KICAD_SUFFIXES or name.startswith((".", "_autosave-", "~")):
                continue
            if path.is_symlink() and not _target(path).is_relative_to(inside):
                problems.append(f"{shown_path(path.relative_to(root))} is a link that leaves the repository")
                continue
            files.append(path)
    return files, problems


def _target(link: Path) -> Path:
    try:
        return link.resolve()
    except (OSError, RuntimeError):  # a circle of links leads nowhere inside
        return Path("/")


def _is_skipped(name: str) -> bool:
    return name.endswith(_SKIPPED_ENDINGS)


def stray_schematics(project: KicadProject) -> tuple[str, ...]:
    """Schematics beside a project that has none of its own name: a rename that KiCad passes over silently."""
    strays = [
        path for path in project.folder.glob("*.kicad_sch") if not path.with_suffix(".kicad_pro").exists()
    ]
    return tuple(shown_path(Path(path.name)) for path in sorted(strays))
