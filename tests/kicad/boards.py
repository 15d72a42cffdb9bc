"""The boards and the kicad-cli that these tests share."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from boardreadyops.checks.projects import find_projects
from boardreadyops.kicad.probe import KicadCli, Unavailable, probe
from boardreadyops.kicad.project import KicadProject

BOARDS = Path(__file__).parents[2] / "boardreadyops" / "demo" / "boards"


@pytest.fixture
async def kicad_cli() -> KicadCli:
    """The installed kicad-cli. In CI it must be there: a skipped check proves nothing."""
    found = await probe(search_path=os.environ.get("PATH", ""))
    if isinstance(found, Unavailable):
        if os.environ.get("CI"):
            pytest.fail(f"CI must have kicad-cli: {found.detail}")
        pytest.skip(found.detail)
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A private folder outside the checkout."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A writable copy of the demo repository whose board is fixed."""
    return copy_of("fixed", tmp_path / "checkout")


def copy_of(stage: str, folder: Path) -> Path:
    """Copy one commit's tree of the demo repository."""
    shutil.copytree(BOARDS / stage, folder)
    return folder


def only_project(root: Path) -> KicadProject:
    """The single project of a checkout."""
    (project,) = find_projects(root).projects
    return project


def fake_cli(folder: Path, script: str, version: str = "9.0.8") -> KicadCli:
    """A kicad-cli that does what the shell script says; `$out` is the report's path."""
    path = folder / "fake-kicad-cli"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = version ]; then echo {version}; exit 0; fi\n'
        'while [ $# -gt 1 ]; do if [ "$1" = --output ]; then out=$2; fi; shift; done\n'
        f"{script}\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return KicadCli(path, version)


def rename_project(root: Path, name: str) -> None:
    """Give the demo project's files another name."""
    for path in sorted(root.glob("power-board.kicad_*")):
        path.rename(path.with_name(name + path.suffix))
