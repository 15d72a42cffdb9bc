"""Commits that are the same everywhere, and fetching them with the real git."""

import asyncio
import base64
import hashlib
import http.client
import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from boardreadyops.standin import StandIn
from boardreadyops.standin.git_store import git_environment
from boardreadyops.standin.state import Repository

from .conftest import INSTALLATION_ID, OWNER, Client


async def git(folder: Path, *arguments: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder)]
    if token is not None:
        credentials = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        command += ["-c", f"http.extraHeader=Authorization: Basic {credentials}"]
    return await asyncio.to_thread(
        subprocess.run,
        [*command, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        env=git_environment(),
        check=False,
    )


def remote(github: StandIn, name: str = "amp") -> str:
    return f"{github.web_url}/{OWNER}/{name}.git"


def git_object(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()


async def test_the_same_files_give_the_same_sha_on_every_machine(
    github: StandIn, repository: Repository
) -> None:
    blob = bytes.fromhex(git_object("blob", b"hello\n"))
    tree = git_object("tree", b"100644 hello.txt\0" + blob)
    stamp = "Board Designer <designer@example.com> 1735689600 +0000"
    commit = git_object("commit", f"tree {tree}\nauthor {stamp}\ncommitter {stamp}\n\nStart".encode())
    assert github.commit_tree(repository, {"hello.txt": b"hello\n"}, "Start") == commit
    assert repository.refs["refs/heads/main"] == "a5490cd71a9802383a032d96a430b3daaa74c2e3"


async def test_a_folder_and_a_mapping_of_the_same_bytes_are_the_same_commit(
    github: StandIn, repository: Repository, tmp_path: Path
) -> None:
    files = {
        "a b.txt": b"crlf\r\n",
        'odd/"ä\\\n.bin': bytes(range(256)),
        "odd/.gitattributes": b"* text\n",
        "z": b"",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
    first = github.commit_tree(repository, tmp_path, "A message\n\nof three lines: ü", None)
    again = github.commit_tree(repository, files, "A message\n\nof three lines: ü", None)
    child = github.commit_tree(repository, {"only": b"this"}, "Child", first)
    assert first == again
    listing = await git(repository.folder, "ls-tree", "-r", "--name-only", "-z", first)
    assert sorted(listing.stdout.strip("\0").split("\0")) == sorted(files)
    assert (await git(repository.folder, "ls-tree", "--name-only", child)).stdout == "only\n"
    assert (await git(repository.folder, "rev-list", "--count", child)).stdout == "2\n"
    assert (await git(repository.folder, "rev-list", "--count", again)).stdout == "1\n"


@pytest.mark.parametrize("path", ["../up", "/etc/passwd", ".git/config", "a/.GIT/x", "a//b", "nul\0"])
async def test_a_path_that_leaves_the_tree_is_refused(
    github: StandIn, repository: Repository, path: str
) -> None:
    with pytest.raises(ValueError, match="cannot be a path"):
        github.commit_tree(repository, {path: b""}, "Bad")


async def test_a_link_in_a_folder_is_refused(github: StandIn, repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="plain files only"):
        github.commit_tree(repository, tmp_path, "Bad")


async def test_git_clones_with_an_installation_token(client: Client, github: StandIn, tmp_path: Path) -> None:
    done = await git(tmp_path, "clone", "--quiet", remote(github), "work", token=client.token)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "work" / "board.kicad_pcb").read_bytes() == b"(kicad_pcb 2)\n"


async def test_git_fetches_a_commit_by_its_sha_although_no_branch_holds_it(
    client: Client, github: StandIn, repository: Repository, tmp_path: Path
) -> None:
    sha = github.commit_tree(repository, {"board.kicad_pcb": b"(other)\n"}, "Loose", None)
    await git(tmp_path, "init", "--quiet", "work")
    work = tmp_path / "work"
    done = await git(work, "fetch", "--quiet", "--depth=1", remote(github), sha, token=client.token)
    assert done.returncode == 0, done.stderr
    shown = await git(work, "show", f"{sha}:board.kicad_pcb")
    assert shown.stdout == "(other)\n"


async def test_a_pull_requests_head_is_a_ref_and_our_own_refs_are_hidden(
    client: Client, github: StandIn, repository: Repository, tmp_path: Path
) -> None:
    sha = github.commit_tree(repository, {"x": b"y"}, "Change", repository.refs["refs/heads/main"])
    await github.open_pull_request(repository, head_commit=sha, number=12, head_ref="feature/x")
    done = await git(tmp_path, "ls-remote", remote(github), token=client.token)
    refs = {line.split("\t")[1]: line.split("\t")[0] for line in done.stdout.splitlines()}
    assert refs["refs/pull/12/head"] == refs["refs/heads/feature/x"] == sha
    assert set(refs) == {"HEAD", "refs/heads/main", "refs/heads/feature/x", "refs/pull/12/head"}


async def test_without_a_good_token_git_is_turned_away(
    client: Client, github: StandIn, tmp_path: Path
) -> None:
    for token in (None, "ghs_wrong"):
        done = await git(tmp_path, "ls-remote", remote(github), token=token)
        assert done.returncode != 0
    reply = await client.call("GET", f"/{OWNER}/amp.git/info/refs?service=git-upload-pack", authorization="")
    assert reply.status == 401
    assert reply.headers["www-authenticate"].startswith("Basic ")
    bearer = await client.call("GET", f"/{OWNER}/amp.git/info/refs?service=git-upload-pack")
    assert bearer.status == 200


async def test_a_token_for_another_repository_or_without_contents_does_not_fetch(
    client: Client, github: StandIn, tmp_path: Path
) -> None:
    other = github.create_repository(INSTALLATION_ID, OWNER, "other")
    narrow = (await client.mint({"repository_ids": [other.id]})).body["token"]
    blind = (await client.mint({"permissions": {"checks": "write"}})).body["token"]
    for token, word in ((narrow, "not found"), (blind, "403")):
        done = await git(tmp_path, "ls-remote", remote(github), token=token)
        assert done.returncode != 0
        assert word in done.stderr


async def test_a_push_is_refused(
    client: Client, github: StandIn, repository: Repository, tmp_path: Path
) -> None:
    await git(tmp_path, "clone", "--quiet", remote(github), "work", token=client.token)
    done = await git(tmp_path / "work", "push", "origin", "HEAD:refs/heads/evil", token=client.token)
    assert done.returncode != 0
    assert "refs/heads/evil" not in (await git(repository.folder, "for-each-ref")).stdout


@pytest.mark.parametrize(
    "path",
    [
        f"/{OWNER}/../../etc/passwd.git/info/refs?service=git-upload-pack",
        f"/{OWNER}/..%2f..%2fetc.git/info/refs?service=git-upload-pack",
        f"/{OWNER}/amp.git/../../../etc/passwd",
        f"/{OWNER}/amp.git/%2e%2e/%2e%2e/etc/passwd",
        f"/{OWNER}/amp.git/config",
        f"/{OWNER}/amp.git/HEAD",
        f"/{OWNER}/amp.git/objects/info/packs",
        f"/{OWNER}/amp.git/info/refs",
        f"/{OWNER}/amp.git/info/refs?service=git-receive-pack",
        f"/{OWNER}/amp.git/info/refs?service=git-upload-pack&service=git-receive-pack",
    ],
)
async def test_a_hostile_git_path_gets_nothing(client: Client, github: StandIn, path: str) -> None:
    def raw() -> tuple[int, bytes]:
        parts = urlsplit(github.web_url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        connection.putrequest("GET", path, skip_accept_encoding=True)
        connection.putheader("authorization", f"Bearer {client.token}")
        connection.endheaders()
        response = connection.getresponse()
        answer = response.status, response.read()
        connection.close()
        return answer

    status, body = await asyncio.to_thread(raw)
    assert status in (403, 404)
    assert b"root:" not in body
    assert b"bare" not in body


async def test_the_persons_own_git_configuration_does_not_matter(
    client: Client, github: StandIn, repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = github.commit_tree(repository, {"x": b"a\r\n"}, "One")
    (tmp_path / ".gitconfig").write_text(
        "[user]\nname=Someone\n[core]\nautocrlf=true\n[commit]\ngpgsign=true\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Someone Else")
    monkeypatch.setenv("GIT_DIR", os.devnull)
    assert github.commit_tree(repository, {"x": b"a\r\n"}, "One") == before
