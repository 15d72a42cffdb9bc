"""`boardreadyops runner`: enrolment, registration, work."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from boardreadyops.agent.registration import Registration, load, store
from boardreadyops.cli.main import main
from boardreadyops.config import Secret
from boardreadyops.db.pool import Database
from boardreadyops.db.runners import register_runner
from boardreadyops.runner.credentials import token_digest
from tests.conftest import DatabaseUrls

ENROLLMENT = "bre_0123456789abcdef0123456789abcdef0123456789a"
TOKEN = "brr_0123456789abcdef0123456789abcdef0123456789a"


class Server:
    """Answers registrations once, then claims with 204, on a thread of its own."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any], str]] = []
        self.answers: list[tuple[int, dict[str, Any] | None]] = []
        self.asked = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append((self.path, body, self.headers.get("authorization", "")))
                status, answer = outer.answers.pop(0) if outer.answers else (204, None)
                content = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(status)
                if status != 204:
                    self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                outer.asked.set()

            def log_message(self, format: str, *args: object) -> None:
                return

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()
    yield served
    served.close()


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def enrollment_file(tmp_path: Path) -> Path:
    path = tmp_path / "enrollment"
    path.write_text(ENROLLMENT + "\n")
    return path


def registered(folder: Path, url: str) -> Path:
    path = folder / "runner" / "bench-1.json"
    store(path, Registration(url, uuid4(), Secret(TOKEN)))
    return path


def answer() -> dict[str, Any]:
    return {"registration_id": str(uuid4()), "token": TOKEN}


def refusal(status: int, code: str) -> tuple[int, dict[str, Any]]:
    return status, {"type": "about:blank", "title": "No", "status": status, "detail": "No.", "code": code}


def test_registering_keeps_the_runners_token_in_a_private_file(
    server: Server, settings: Path, enrollment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers.append((201, answer()))
    command = ["runner", "register", "--server", server.url, "--name", "bench-1"]
    assert main([*command, "--token-file", str(enrollment_file)]) == 0
    path = settings / "runner" / "bench-1.json"
    assert load(path).token == Secret(TOKEN)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = capsys.readouterr()
    assert str(path) in shown.out
    assert not any(token in shown.out + shown.err for token in (TOKEN, ENROLLMENT))
    assert server.requests[0][:2] == (
        "/runner/v1/registrations",
        {"enrollment_token": ENROLLMENT, "name": "bench-1", "version": "0.1.0"},
    )


@pytest.mark.parametrize("way", ["stdin", "dash", "environment"])
def test_the_enrolment_token_also_comes_by_standard_input_or_environment(
    way: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers.append((201, answer()))
    command = [
        "runner",
        "register",
        "--server",
        server.url,
        "--name",
        "b",
        "--state",
        str(tmp_path / "b.json"),
    ]
    if way == "environment":
        monkeypatch.setenv("BOARDREADYOPS_ENROLLMENT_TOKEN", ENROLLMENT)
    else:
        monkeypatch.setattr(sys, "stdin", io.StringIO(ENROLLMENT + "\n"))
    assert main([*command, *(["--enrollment-token-file", "-"] if way == "dash" else [])]) == 0
    assert server.requests[0][1]["enrollment_token"] == ENROLLMENT
    assert load(tmp_path / "b.json").server == server.url


def test_a_refused_enrolment_leaves_no_file_behind(
    server: Server, settings: Path, enrollment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers.append(refusal(403, "enrollment_refused"))
    command = ["runner", "register", "--server", server.url, "--name", "bench-1"]
    assert main([*command, "--token-file", str(enrollment_file)]) == 2
    assert capsys.readouterr().err == "boardreadyops runner register: No. (enrollment_refused)\n"
    assert list((settings / "runner").iterdir()) == []


def test_a_server_that_is_away_is_exit_code_3(
    settings: Path, enrollment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["runner", "register", "--server", "http://127.0.0.1:9", "--name", "bench-1"]
    assert main([*command, "--token-file", str(enrollment_file)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_a_registration_is_never_overwritten(
    server: Server, settings: Path, enrollment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = registered(settings, server.url)
    before = path.read_bytes()
    command = ["runner", "register", "--server", server.url, "--name", "bench-1"]
    assert main([*command, "--token-file", str(enrollment_file)]) == 2
    assert path.read_bytes() == before
    assert server.requests == []
    assert "registration already" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "brr_x", "bre_a b", "hello"])
def test_what_is_no_enrolment_token_is_not_sent(
    content: str, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    command = ["runner", "register", "--server", server.url, "--name", "b"]
    assert main([*command, "--token-file", str(file)]) == 2
    assert server.requests == []
    assert capsys.readouterr().err.count("\n") == 1


def test_once_with_nothing_to_do_says_so(
    server: Server, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registered(settings, server.url)
    assert main(["runner", "once", "--kicad-cli", "/nonexistent/kicad-cli"]) == 0
    assert capsys.readouterr().out == "nothing to do\n"
    path, body, authorization = server.requests[0]
    assert (path, authorization) == ("/runner/v1/leases", f"Bearer {TOKEN}")
    assert [word.partition("=")[0] for word in body["capabilities"]] == ["arch"]


def test_once_with_a_revoked_registration_is_exit_code_2(
    server: Server, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers.append(refusal(401, "revoked"))
    registered(settings, server.url)
    assert main(["runner", "once", "--name", "bench-1"]) == 2
    assert "boardreadyops runner: No. (revoked)\n" in capsys.readouterr().err


def test_recorded_reports_are_refused_for_another_machines_server(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registered(settings, "https://boards.example.com")
    assert main(["runner", "once", "--recorded-reports", str(tmp_path)]) == 2
    assert "this machine only" in capsys.readouterr().err


def test_without_a_registration_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runner", "run"]) == 2
    assert "register" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "exit_code", "last_word"),
    [(signal.SIGTERM, 0, b"stopped\n"), (signal.SIGINT, 130, b"")],
    ids=["SIGTERM", "Ctrl-C"],
)
def test_run_ends_when_it_is_told_to_and_shows_no_trace(
    number: signal.Signals, exit_code: int, last_word: bytes, server: Server, settings: Path
) -> None:
    registered(settings, server.url)
    command = [
        sys.executable,
        "-m",
        "boardreadyops",
        "runner",
        "run",
        "--kicad-cli",
        "/nonexistent/kicad-cli",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        assert server.asked.wait(30)
        arguments = Path(f"/proc/{process.pid}/cmdline")
        if arguments.exists():
            assert TOKEN.encode() not in arguments.read_bytes()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == exit_code
    assert out.endswith(last_word)
    assert b"Traceback" not in err
    assert TOKEN.encode() not in out + err


@pytest.fixture
def database(database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch) -> DatabaseUrls:
    monkeypatch.setenv("BOARDREADYOPS_DATABASE_URL", database_urls.owner.reveal())
    monkeypatch.setenv("BOARDREADYOPS_SECRET_KEY", database_urls.secret_key.reveal())
    return database_urls


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: an event loop runs here already."""
    command = [sys.executable, "-m", "boardreadyops", "runner", "issue-enrollment", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


async def test_a_managed_enrolment_registers_one_runner(
    database: DatabaseUrls, app_database: Database
) -> None:
    done = run_command("--managed", "--name", "bench-1", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert set(document) == {"enrollment_token", "expires_at"}
    life = datetime.fromisoformat(document["expires_at"]) - datetime.now(UTC)
    assert timedelta(seconds=800) < life <= timedelta(seconds=900)
    outcomes = []
    for number in range(2):
        async with app_database.transaction() as connection:
            answered = await register_runner(
                connection,
                enrollment_digest=token_digest(Secret(document["enrollment_token"])),
                token_digest=token_digest(Secret(f"brr_{number}")),
                name="bench-1",
                runner_version="1",
            )
        outcomes.append(answered.outcome)
    assert outcomes == ["registered", "refused"]


async def test_without_json_the_token_alone_is_on_standard_output(database: DatabaseUrls) -> None:
    done = run_command("--managed", "--name", "bench-1", "--ttl-seconds", "60")
    assert done.returncode == 0
    assert done.stdout.startswith("bre_")
    assert done.stdout.count("\n") == 1


async def test_an_unknown_installation_or_repository_is_one_line_and_exit_code_2(
    database: DatabaseUrls, app_database: Database
) -> None:
    from boardreadyops.db.metadata import note_installation, put_repository
    from boardreadyops.domain.identity import RepositoryFacts

    async with app_database.transaction() as connection:
        for installation_id, name in ((5, "amp"), (6, "psu")):
            await note_installation(
                connection, installation_id=installation_id, account_login=f"acme{name}", account_id=None
            )
            facts = RepositoryFacts(
                repository_id=installation_id, owner="acme", name=name, private=False, default_branch="main"
            )
            await put_repository(
                connection, installation_id, facts, observed_at=datetime(2026, 1, 1, tzinfo=UTC)
            )
    for wrong in (["7"], ["5", "--repository", "acme/psu"], ["5", "--repository", "acme/none"]):
        done = run_command("--name", "b", "--installation", *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    done = run_command("--name", "b", "--installation", "5", "--repository", "ACME/Amp", "--json")
    assert (done.returncode, done.stderr) == (0, "")


async def test_a_database_that_was_never_migrated_is_exit_code_3(
    empty_database: Secret, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_DATABASE_URL", empty_database.reveal())
    done = run_command("--managed", "--name", "b")
    assert done.returncode == 3
    assert "run `boardreadyops migrate`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_repositories_go_with_an_installation_only(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["runner", "issue-enrollment", "--managed", "--name", "b", "--repository", "acme/amp"]
    assert main(command) == 2
    assert capsys.readouterr().err.count("\n") == 1
