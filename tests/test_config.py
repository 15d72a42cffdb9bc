from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path

import pytest

from boardreadyops.config import PREFIX, Secret, Settings, SettingsError, kept_secret, secret_key

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"


def read(**values: str) -> Settings:
    return Settings.from_environment({PREFIX + name: value for name, value in values.items()})


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    settings = read(DATA_DIR="/somewhere")
    assert settings == Settings(data_dir=Path("/somewhere"), artifact_store="file:///somewhere/artifacts")
    assert (settings.host, settings.port, settings.public_url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert settings.approval_timeout_seconds == 604_800
    assert settings.queue_timeout_seconds == 21_600
    assert settings.start_timeout_seconds == 1_800
    assert settings.run_timeout_seconds == 5_400
    assert (settings.lease_seconds, settings.max_execution_attempts) == (120, 3)
    assert (settings.github_timeout_seconds, settings.doubt_seconds) == (10, 60)


@pytest.mark.parametrize(
    ("uid", "environ", "expected"),
    [
        (0, {"XDG_DATA_HOME": "/share", "HOME": "/root"}, "/var/lib/boardreadyops"),
        (1000, {"XDG_DATA_HOME": "/share", "HOME": "/homes/ada"}, "/share/boardreadyops"),
        (1000, {"HOME": "/homes/ada"}, "/homes/ada/.local/share/boardreadyops"),
        (1000, {"XDG_DATA_HOME": "relative", "HOME": "/homes/ada"}, "/homes/ada/.local/share/boardreadyops"),
    ],
)
def test_the_data_folder_depends_on_who_we_are(
    monkeypatch: pytest.MonkeyPatch, uid: int, environ: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert Settings.from_environment(environ).data_dir == Path(expected)


def test_the_process_environment_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOARDREADYOPS_PORT", "8123")
    assert Settings.from_environment().port == 8123


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("PORT", "http", "give a whole number from 0 to 65,535"),
        ("PORT", "65536", "give a whole number from 0 to 65,535"),
        ("PORT", "٣", "give a whole number"),
        ("PORT", "", "is empty"),
        ("HOST", "  ", "is empty"),
        ("LEASE_SECONDS", "2", "from 3 to"),
        ("LEASE_SECONDS", "-120", "from 3 to"),
        ("QUEUE_TIMEOUT_SECONDS", "0", "from 1 to"),
        ("RUN_TIMEOUT_SECONDS", "1e3", "give a whole number"),
        ("MAX_EXECUTION_ATTEMPTS", "21", "from 1 to 20"),
        ("GITHUB_TIMEOUT_SECONDS", "61", "from 1 to 60"),
        ("GITHUB_APP_ID", "0", "from 1 to"),
        ("EXECUTION", "actions", "this version cannot do that yet"),
        ("EXECUTION", "docker", "use 'runner'"),
        ("DATABASE_URL", "mysql://u:hunter2@h/d", "is not a postgresql:// URL"),
        ("DATABASE_URL", "postgresql://u:hunter2/@h/d", "of a password as %2F"),
        ("DATABASE_URL", "postgresql://u:hunter2@x@h/d", "of a password as %2F"),
        ("DATABASE_URL", "postgresql://u:hunter2#@h/d", "of a password as %2F"),
        ("DATA_DIR", "relative/path", "give an absolute path"),
        ("PUBLIC_URL", "boardreadyops.example", "is not a plain web address"),
        ("PUBLIC_URL", "ftp://boardreadyops.example", "is not a plain web address"),
        ("PUBLIC_URL", "https://host:port", "is not a plain web address"),
        ("GITHUB_API_URL", "https://user:hunter2@host", "is not a plain web address"),
        ("SECRET_KEY", "hunter2", "give at least 32 characters"),
        ("OPERATOR_TOKEN", "hunter2", "give at least 16 characters"),
        ("GITHUB_PRIVATE_KEY", "hunter2", "is not a PEM private key"),
        ("GITHUB_PRIVATE_KEY_FILE", "/nowhere/key.pem", "cannot be read"),
        ("HOST", "a\nb", "control characters"),
        ("HOST", "h" * 70_000, "too long"),
    ],
)
def test_a_bad_setting_is_one_line_that_names_it(name: str, value: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem) as caught:
        read(**{name: value})
    text = str(caught.value)
    assert text.startswith(PREFIX + name)
    assert "\n" not in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"READER_DATABASE_URL": "postgresql://r@h/d"}, "DATABASE_URL is missing"),
        ({"MIGRATION_DATABASE_URL": "postgresql://m@h/d"}, "DATABASE_URL is missing"),
        (
            {"DATABASE_URL": "postgresql://a@h/d", "MIGRATION_DATABASE_URL": "postgresql://m@h/d"},
            "READER_DATABASE_URL is missing",
        ),
        ({"GITHUB_WEBHOOK_SECRET_PREVIOUS": "old"}, "GITHUB_WEBHOOK_SECRET is missing"),
        ({"GITHUB_PRIVATE_KEY": PEM, "GITHUB_PRIVATE_KEY_FILE": "/key"}, "both set"),
    ],
)
def test_settings_that_need_each_other_are_checked_together(values: dict[str, str], missing: str) -> None:
    with pytest.raises(SettingsError, match=missing):
        read(**values)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p%2Fw@h:5432/d",
        "postgres://u@[::1]:5432/d",
        "postgresql://u:p@one:5432,two:5433/d?target_session_attrs=primary",
        "postgresql:///d?host=/run/postgresql&user=u",
    ],
)
def test_every_form_of_a_database_url_is_taken(url: str) -> None:
    taken = read(DATABASE_URL=url).database_url
    assert taken is not None
    assert taken.reveal() == url


def test_an_unknown_setting_names_the_closest_known_one() -> None:
    with pytest.raises(
        SettingsError,
        match="BOARDREADYOPS_DATABSE_URL is not a setting: did you mean BOARDREADYOPS_DATABASE_URL",
    ):
        read(DATABSE_URL="postgresql://u@h/d")
    assert read(TEST_DATABASE_URL="postgresql://u@h/d").database_url is None


def test_a_private_key_comes_from_a_file_or_from_one_line(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(PEM + "\n")
    assert read(GITHUB_PRIVATE_KEY_FILE=str(tmp_path / "key.pem")).github_private_key == Secret(PEM)
    assert read(GITHUB_PRIVATE_KEY=PEM.replace("\n", "\\n")).github_private_key == Secret(PEM)
    assert read(GITHUB_PRIVATE_KEY=PEM).github_private_key == Secret(PEM)


def test_the_public_address_follows_the_port_unless_it_was_given() -> None:
    assert read(PORT="0").bound_to(8123).public_url == "http://127.0.0.1:8123"
    assert read(HOST="::1", PORT="0").bound_to(8123).public_url == "http://[::1]:8123"
    assert (
        read(PORT="0", PUBLIC_URL="https://ready.example/").bound_to(8123).public_url
        == "https://ready.example"
    )


def test_secrets_never_print(caplog: pytest.LogCaptureFixture) -> None:
    settings = read(DATABASE_URL="postgresql://u:hunter2@h/d", OPERATOR_TOKEN="hunter2-hunter2-hunter2")
    secret = Secret("hunter2")
    logging.getLogger("test").warning("%s %r", secret, settings)
    texts = [repr(settings), str(settings), f"{secret} {secret!r} {secret:>20}", caplog.text]
    texts += [repr([secret]), repr(asdict(settings)), str(SettingsError(secret))]
    assert not any("hunter2" in text for text in texts)
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        json.dumps(secret)


def test_secrets_compare_by_their_text() -> None:
    assert Secret("ü") == Secret("ü")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert copy.deepcopy(Secret("a")) == Secret("a")


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        read().port = 1  # type: ignore[misc]


def test_the_secret_key_is_made_once_and_kept_closed(tmp_path: Path) -> None:
    settings = read(DATA_DIR=str(tmp_path / "data"))
    key = secret_key(settings)
    assert len(bytes.fromhex(key.reveal())) == 32
    assert secret_key(settings) == key
    path = tmp_path / "data" / "secret_key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_many_that_make_the_secret_key_at_once_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(lambda _: kept_secret(tmp_path / "secret_key"), range(64)))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_given_secret_key_is_used_and_nothing_is_written(tmp_path: Path) -> None:
    settings = read(DATA_DIR=str(tmp_path / "data"), SECRET_KEY="k" * 32)
    assert secret_key(settings) == Secret("k" * 32)
    assert not (tmp_path / "data").exists()


def test_a_damaged_or_impossible_secret_key_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("")
    with pytest.raises(SettingsError, match="is damaged"):
        secret_key(read(DATA_DIR=str(tmp_path)))
    with pytest.raises(SettingsError, match="SECRET_KEY is not set"):
        secret_key(read(DATA_DIR=str(tmp_path / "secret_key" / "inner")))
