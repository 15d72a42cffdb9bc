"""The program as a whole: help, errors in one line, exit codes."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace

import pytest

from boardreadyops import __version__
from boardreadyops.cli import main as program
from boardreadyops.cli.exits import BROKEN_PIPE
from boardreadyops.config import SettingsError
from boardreadyops.db.binaries import EmbeddedPostgresError
from boardreadyops.db.migrations import MigrationRefused
from boardreadyops.db.pool import DatabaseUnavailable

COMMAND = (sys.executable, "-m", "boardreadyops")
ALL_HELPS = [
    ["--help"],
    ["serve", "--help"],
    ["migrate", "--help"],
    ["check", "--help"],
    ["demo", "--help"],
    ["runner", "--help"],
    ["runner", "issue-enrollment", "--help"],
    ["runner", "register", "--help"],
    ["runner", "once", "--help"],
    ["runner", "run", "--help"],
]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        exit_code = program.main(arguments)
    except SystemExit as ended:
        exit_code = int(ended.code or 0)
    out, err = capsys.readouterr()
    return exit_code, out, err


@pytest.fixture
def command_that(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """Put a command in place that does this."""

    def put(act: Callable[[], int]) -> None:
        def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
            subparsers.add_parser("serve").set_defaults(handler=lambda _: act())

        monkeypatch.setattr(program, "import_module", lambda _: SimpleNamespace(add_commands=add_commands))

    return put


@pytest.mark.parametrize("arguments", ALL_HELPS, ids=" ".join)
def test_every_help_fits_60_columns(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    exit_code, out, err = printed(arguments, capsys)
    assert (exit_code, err) == (0, "")
    assert max(len(line) for line in out.splitlines()) <= 60


def test_the_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = printed(["--help"], capsys)
    assert all(f"\n  {name} " in out for name in program.COMMANDS)


def test_the_help_hides_what_only_the_demo_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert "recorded" not in printed(["runner", "run", "--help"], capsys)[1]


def test_no_command_at_all_is_a_mistake_that_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = printed([], capsys)
    assert (exit_code, out) == (2, "")
    assert "usage" in err


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(["--version"], capsys) == (0, f"boardreadyops {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["srve"],
        ["\x1b[31m\n"],
        ["runner"],
        ["runner", "start"],
        ["runner", "run", "--speed", "9"],
        ["demo", "--port", "65536"],
        ["demo", "--port", "http"],
        ["runner", "register", "--server", "ftp://x", "--name", "n"],
        ["runner", "register", "--server", "http://x", "--name", "../n"],
        ["runner", "issue-enrollment", "--name", "n"],
        ["runner", "issue-enrollment", "--managed", "--installation", "1", "--name", "n"],
        ["runner", "issue-enrollment", "--installation", "x", "--name", "n"],
        ["runner", "issue-enrollment", "--managed", "--name", "n", "--ttl-seconds", "3601"],
        ["runner", "once", "--capability", "KiCad 9"],
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code, out, err = printed(arguments, capsys)
    assert (exit_code, out) == (2, "")
    assert err.startswith("boardreadyops: ")
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_an_unknown_option_names_the_command_whose_help_lists_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = "boardreadyops: serve: unrecognized arguments: --prot (see boardreadyops serve --help)\n"
    assert printed(["serve", "--prot"], capsys) == (2, "", expected)


def test_a_mistyped_command_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean serve?" in printed(["srve"], capsys)[2]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SettingsError("BOARDREADYOPS_PORT is 'x'"), 2),
        (MigrationRefused("no"), 1),
        (DatabaseUnavailable("away"), 3),
        (EmbeddedPostgresError("the folder is in use\nby another"), 3),
        (type("Narrower", (DatabaseUnavailable,), {})("away"), 3),
    ],
)
def test_what_is_known_to_go_wrong_is_one_line_with_its_exit_code(
    error: Exception,
    expected: int,
    command_that: Callable[[Callable[[], int]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> int:
        raise error

    command_that(fail)
    exit_code, out, err = printed(["serve"], capsys)
    assert (exit_code, out) == (expected, "")
    assert err.startswith(f"boardreadyops: {' '.join(str(error).split())}")
    assert err.count("\n") == 1


def test_a_database_that_cannot_be_used_comes_with_what_to_look_at(
    command_that: Callable[[Callable[[], int]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise DatabaseUnavailable("the database cannot be used now (InvalidPasswordError)")

    command_that(fail)
    _, _, err = printed(["serve"], capsys)
    assert "does it run, and are BOARDREADYOPS_DATABASE_URL" in err


def test_what_is_not_known_is_not_hidden(command_that: Callable[[Callable[[], int]], None]) -> None:
    def fail() -> int:
        raise LookupError("a mistake in the program")

    command_that(fail)
    with pytest.raises(LookupError):
        program.main(["serve"])


def test_ctrl_c_is_silent(
    command_that: Callable[[Callable[[], int]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    command_that(interrupt)
    assert printed(["serve"], capsys) == (130, "", "")


@pytest.mark.parametrize("name", program.KNOWN_ERRORS)
def test_every_known_error_exists_under_its_name(name: str) -> None:
    module, _, error = name.rpartition(".")
    found = getattr(import_module(module), error)
    assert f"{found.__module__}.{found.__qualname__}" == name


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen([*COMMAND, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == BROKEN_PIPE


def test_help_and_version_import_neither_database_nor_http() -> None:
    look = (
        "import sys; from boardreadyops.cli.main import main; main(['--help']); main(['--version'])\n"
        "print([name for name in ('asyncpg', 'httpx', 'fastapi', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
