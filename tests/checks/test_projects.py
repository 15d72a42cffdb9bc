import os
from pathlib import Path

import pytest

from boardreadyops.checks import projects
from boardreadyops.checks.projects import find_projects


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def ids(root: Path) -> list[str]:
    return [project.id for project in find_projects(root).projects]


def test_every_project_is_found_with_its_own_files(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "a.kicad_pro",
        "a.kicad_pcb",
        "a.kicad_sch",
        "a.kicad_dru",
        "hw/b c/größe.kicad_pro",
        "sub.kicad_sch",
    )
    found = find_projects(tmp_path).projects
    assert [project.id for project in found] == ["a", "hw/b c/größe"]
    assert found[0].rules == tmp_path / "a.kicad_dru"
    assert (found[1].board, found[1].schematic, found[1].rules) == (None, None, None)


def test_hidden_and_backup_folders_and_autosaves_are_skipped(tmp_path: Path) -> None:
    touch(
        tmp_path,
        ".git/a.kicad_pro",
        "b-backups/b.kicad_pro",
        "_autosave-c.kicad_pro",
        ".d.kicad_pro",
        "e.kicad_pro",
    )
    assert ids(tmp_path) == ["e"]


def test_a_link_that_leaves_the_repository_is_a_problem_not_a_project(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    touch(outside, "x.kicad_pro", "x.kicad_pcb")
    root = tmp_path / "root"
    touch(root, "a.kicad_pro", "a.kicad_pcb")
    (root / "x.kicad_pro").symlink_to(outside / "x.kicad_pro")
    (root / "loop.kicad_pcb").symlink_to("loop.kicad_pcb")
    (root / "folder").symlink_to(outside)
    found = find_projects(root)
    assert [project.id for project in found.projects] == ["a"]
    assert "x.kicad_pro is a link that leaves the repository" in found.problems


def test_a_link_inside_the_repository_is_followed(tmp_path: Path) -> None:
    touch(tmp_path, "shared/a.kicad_pro")
    (tmp_path / "b.kicad_pro").symlink_to("shared/a.kicad_pro")
    assert ids(tmp_path) == ["b", "shared/a"]


def test_too_many_projects_are_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projects, "PROJECTS_LIMIT", 2)
    touch(tmp_path, *(f"p{n}.kicad_pro" for n in range(4)))
    found = find_projects(tmp_path)
    assert len(found.projects) == 2
    assert "4 KiCad projects, more than the 2" in found.problems[0]


def test_names_that_are_no_text_can_still_be_told(tmp_path: Path) -> None:
    name = os.fsdecode(b"b\xff\nd.kicad_pro")
    touch(tmp_path, name)
    assert ids(tmp_path) == ["b\ufffd\ufffdd"]
    "".join(ids(tmp_path)).encode()
