"""The file in which a runner keeps its token."""

from __future__ import annotations

import stat
from pathlib import Path
from uuid import uuid4

import pytest

from boardreadyops.agent.registration import (
    Registration,
    RegistrationError,
    load,
    only_state_path,
    state_path,
    store,
)
from boardreadyops.config import Secret


def registration() -> Registration:
    return Registration("http://127.0.0.1:8000", uuid4(), Secret("brr_secret"))


def test_what_is_stored_is_loaded(tmp_path: Path) -> None:
    path, kept = state_path(tmp_path, "bench-1"), registration()
    store(path, kept)
    assert load(path) == kept
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["bench-1.json"]


def test_a_registration_never_shows_its_token() -> None:
    assert "brr_secret" not in repr(registration())


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = state_path(tmp_path, "bench-1")
    store(path, registration())
    path.chmod(0o640)
    with pytest.raises(RegistrationError, match="chmod 600"):
        load(path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff", b'{"server": "x", "registration_id": "y", "token": "z"}']
)
def test_a_damaged_file_is_refused_without_its_contents(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runner.json"
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(RegistrationError, match="damaged"):
        load(path)


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RegistrationError, match="register"):
        load(tmp_path / "runner.json")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-x", "x" * 101, "a b", "a\n"])
def test_a_name_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(RegistrationError):
        state_path(tmp_path, name)


def test_the_only_runner_needs_no_name(tmp_path: Path) -> None:
    with pytest.raises(RegistrationError, match="no runner"):
        only_state_path(tmp_path)
    store(state_path(tmp_path, "one"), registration())
    assert only_state_path(tmp_path) == state_path(tmp_path, "one")
    store(state_path(tmp_path, "two"), registration())
    with pytest.raises(RegistrationError, match="one, two"):
        only_state_path(tmp_path)
