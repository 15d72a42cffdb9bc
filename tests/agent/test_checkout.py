"""Fetching exactly one commit, from a real git server over HTTP."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from boardreadyops.agent.checkout import CheckoutLimits, Source, SourceProblem, checkout, usable_address
from boardreadyops.config import Secret, executable_search_path
from tests.agent.conftest import BOARD, GitSource, Publish

AMPLE = CheckoutLimits()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "source"
    made.mkdir()
    return made


async def fetch(
    source: GitSource, folder: Path, *, search_path: str | None = None, limits: CheckoutLimits = AMPLE
) -> SourceProblem | None:
    wanted = Source(source.clone_url, source.commit_sha, Secret(source.token))
    return await checkout(wanted, folder, search_path=search_path or executable_search_path(), limits=limits)


def files_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def head_of(folder: Path) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


async def test_the_files_are_those_of_the_commit_and_nothing_else(source: GitSource, folder: Path) -> None:
    assert await fetch(source, folder) is None
    assert files_of(folder) == BOARD
    assert head_of(folder) == source.commit_sha


async def test_attributes_change_no_byte(publish: Publish, folder: Path) -> None:
    tree = {
        ".gitattributes": b"*.kicad_pcb text eol=crlf ident filter=lfs working-tree-encoding=UTF-16\n",
        "amp.kicad_pcb": b"(kicad_pcb)\n$Id$\n",
    }
    assert await fetch(await publish(tree), folder) is None
    assert files_of(folder) == tree


async def test_neither_arguments_nor_files_ever_hold_the_token(
    source: GitSource, folder: Path, tmp_path: Path
) -> None:
    real, log, programs = shutil.which("git"), tmp_path / "arguments", tmp_path / "programs"
    programs.mkdir()
    wrapper = programs / "git"
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {log}\nexec {real} "$@"\n')
    wrapper.chmod(0o700)
    assert await fetch(source, folder, search_path=f"{programs}:{executable_search_path()}") is None
    hidden = [source.token, base64.b64encode(f"x-access-token:{source.token}".encode()).decode()]
    written = log.read_text() + "".join(file.read_bytes().decode("latin-1") for file in every_file(folder))
    assert source.commit_sha in written
    assert not any(text in written for text in hidden)


def every_file(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


async def test_a_wrong_token_is_denied(source: GitSource, folder: Path) -> None:
    assert await fetch(replace(source, token="wrong"), folder) is SourceProblem.DENIED


async def test_an_unknown_commit_is_gone(source: GitSource, folder: Path) -> None:
    assert await fetch(replace(source, commit_sha="d" * 40), folder) is SourceProblem.GONE


async def test_an_unknown_repository_is_gone(source: GitSource, folder: Path) -> None:
    elsewhere = source.clone_url.replace("amp.git", "other.git")
    assert await fetch(replace(source, clone_url=elsewhere), folder) in {
        SourceProblem.GONE,
        SourceProblem.DENIED,
    }


async def test_a_server_that_is_away_is_unreachable(source: GitSource, folder: Path) -> None:
    away = replace(source, clone_url="http://127.0.0.1:9/acme/amp.git")
    assert await fetch(away, folder, limits=CheckoutLimits(fetch_attempts=2)) is SourceProblem.UNREACHABLE


async def test_without_git_there_is_no_checkout(source: GitSource, folder: Path, tmp_path: Path) -> None:
    assert await fetch(source, folder, search_path=str(tmp_path)) is SourceProblem.NO_GIT


@pytest.mark.parametrize(
    "limits",
    [CheckoutLimits(pack_bytes=1), CheckoutLimits(tree_bytes=10), CheckoutLimits(tree_files=2)],
    ids=["pack", "bytes", "files"],
)
async def test_a_repository_over_a_limit_is_too_large(
    limits: CheckoutLimits, source: GitSource, folder: Path
) -> None:
    assert await fetch(source, folder, limits=limits) is SourceProblem.TOO_LARGE
    assert files_of(folder) == {}


async def test_a_fetch_past_its_time_is_too_slow(source: GitSource, folder: Path) -> None:
    limits = CheckoutLimits(fetch_timeout_seconds=0)
    assert await fetch(source, folder, limits=limits) is SourceProblem.TOO_SLOW


def commit_a_link_and_a_submodule(bare: Path) -> str:
    modules = '[submodule "library"]\n\tpath = library\n\turl = ../x.git\n'
    incoming = (
        "commit refs/heads/odd\ncommitter A <a@example.com> 1735689600 +0000\ndata 3\nodd\n"
        "M 120000 inline amp.kicad_pcb\ndata 11\n/etc/passwd\n"
        f"M 160000 {'d' * 40} library\n"
        f"M 100644 inline .gitmodules\ndata {len(modules)}\n{modules}\n"
    )
    command = ["git", "fast-import", "--quiet"]
    subprocess.run(command, cwd=bare, input=incoming.encode(), check=True, capture_output=True)
    return (bare / "refs/heads/odd").read_text().strip()


async def test_links_come_as_plain_files_and_submodules_not_at_all(source: GitSource, folder: Path) -> None:
    odd = replace(source, commit_sha=commit_a_link_and_a_submodule(source.bare))
    assert await fetch(odd, folder) is None
    assert not (folder / "amp.kicad_pcb").is_symlink()
    assert (folder / "amp.kicad_pcb").read_bytes() == b"/etc/passwd"
    assert set(files_of(folder)) == {"amp.kicad_pcb", ".gitmodules"}


@pytest.mark.parametrize(
    ("url", "usable"),
    [
        ("https://github.com/acme/amp.git", True),
        ("http://127.0.0.1:8080/acme/amp.git", True),
        ("http://[::1]:8080/acme/amp.git", True),
        ("http://localhost/acme/amp.git", True),
        ("http://github.com/acme/amp.git", False),
        ("http://localhost.example.com/amp.git", False),
        ("https://user:password@github.com/amp.git", False),
        ("file:///etc", False),
        ("ext::sh -c true", False),
        ("ssh://github.com/acme/amp.git", False),
        ("--upload-pack=true", False),
        ("https://github.com/a b", False),
        ("https://[::1", False),
        ("https://", False),
    ],
)
def test_a_token_goes_to_https_or_to_this_machine(url: str, usable: bool) -> None:
    assert usable_address(url) is usable


def test_the_reasons_are_sentences_without_an_end() -> None:
    assert all(problem.value and not problem.value.endswith(".") for problem in SourceProblem)
