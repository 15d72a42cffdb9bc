"""`boardreadyops runner list | revoke | rotate`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from boardreadyops.cli.main import main
from boardreadyops.config import Secret
from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.pool import Connection, Database
from boardreadyops.db.runners import find_registration, issue_runner_enrollment, register_runner
from boardreadyops.domain.identity import RepositoryFacts
from boardreadyops.runner.credentials import token_digest
from tests.conftest import DatabaseUrls


@pytest.fixture(autouse=True)
def database(database_urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DatabaseUrls:
    monkeypatch.setenv("BOARDREADYOPS_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("BOARDREADYOPS_DATABASE_URL", database_urls.owner.reveal())
    monkeypatch.setenv("BOARDREADYOPS_SECRET_KEY", database_urls.secret_key.reveal())
    return database_urls


async def run(*arguments: str, columns: int | None = None) -> subprocess.CompletedProcess[str]:
    """In a process of its own: an event loop runs here already."""
    command = [sys.executable, "-m", "boardreadyops", "runner", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = str(columns)
    return await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False, env=environment
    )


async def registered(database: Database, name: str, token: str, installation_id: int | None = None) -> UUID:
    enrolment = hashlib.sha256(token.encode()).digest()
    async with database.transaction() as connection:
        if installation_id is not None:
            await note_installation(
                connection, installation_id=installation_id, account_login="acme", account_id=None
            )
        await issue_runner_enrollment(
            connection, installation_id=installation_id, repository_ids=None, name=name,
            token_digest=enrolment, ttl_seconds=60,
        )  # fmt: skip
        answer = await register_runner(
            connection, enrollment_digest=enrolment, token_digest=token_digest(Secret(token)),
            name=name, runner_version="0.1.0",
        )  # fmt: skip
    assert answer.registration_id is not None
    return answer.registration_id


async def holder(database: Database, token: str) -> tuple[UUID, bool] | None:
    async with database.connection() as connection:
        found = await find_registration(connection, token_digest=token_digest(Secret(token)))
    return None if found is None else (found.id, found.revoked)


async def test_without_runners_the_list_says_what_to_do() -> None:
    done = await run("list")
    assert (done.returncode, done.stderr) == (0, "")
    assert "issue-enrollment" in done.stdout
    assert json.loads((await run("list", "--json")).stdout) == {"items": [], "complete": True}


async def test_the_list_tells_each_runner_in_a_line_and_no_token(app_database: Database) -> None:
    one = await registered(app_database, "bench\n\x1b[31m", "brr_one")
    two = await registered(app_database, "amp", "brr_two", 5)
    done = await run("list")
    heading, first, second = done.stdout.splitlines()
    assert heading.split() == ["ID", "NAME", "SERVES", "STATE", "VERSION", "LAST", "HEARTBEAT"]
    assert first.split() == [str(two), "amp", "acme", "idle", "0.1.0", "never"]
    assert second.startswith(f"{one}  bench [31m  all (managed)")
    assert "brr_" not in done.stdout
    items = json.loads((await run("list", "--json")).stdout)["items"]
    assert [item["id"] for item in items] == [str(two), str(one)]
    assert (items[0]["installation_id"], items[0]["account"], items[0]["active_leases"]) == (5, "acme", 0)
    assert items[0]["created_at"].endswith("Z")


async def test_a_runner_of_some_repositories_names_those_that_are_left(
    app_database: Database, owner_connection: Connection
) -> None:
    await registered(app_database, "bench-1", "brr_one", 5)
    await owner_connection.execute("UPDATE runner_registrations SET repository_ids = '{77}'")
    (item,) = json.loads((await run("list", "--json")).stdout)["items"]
    assert item["repositories"] == []
    facts = RepositoryFacts(repository_id=77, owner="acme", name="amp", private=False, default_branch="main")
    async with app_database.transaction() as connection:
        await put_repository(connection, 5, facts, observed_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert "acme/amp" in (await run("list")).stdout


async def test_on_a_narrow_terminal_no_line_is_too_long(app_database: Database) -> None:
    one = await registered(app_database, "a-rather-long-name-of-a-bench", "brr_one")
    done = await run("list", columns=44)
    assert all(len(line) <= 44 for line in done.stdout.splitlines())
    assert f"id: {one}" in done.stdout


async def test_a_revoked_runner_is_void_and_listed_only_on_demand(app_database: Database) -> None:
    one = await registered(app_database, "bench-1", "brr_one")
    done = await run("revoke", str(one))
    again = await run("revoke", str(one), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "revoked" in done.stdout
    assert json.loads(again.stdout) == {"registration_id": str(one), "outcome": "existing"}
    assert await holder(app_database, "brr_one") == (one, True)
    assert json.loads((await run("list", "--json")).stdout)["items"] == []
    (item,) = json.loads((await run("list", "--all", "--json")).stdout)["items"]
    assert item["revoked_at"] is not None


async def test_rotation_prints_the_only_token_that_opens(app_database: Database) -> None:
    one = await registered(app_database, "bench-1", "brr_one")
    plain = await run("rotate", str(one))
    assert plain.returncode == 0
    assert plain.stdout.startswith("brr_")
    assert plain.stdout.count("\n") == 1
    document = json.loads((await run("rotate", str(one), "--json")).stdout)
    assert document["registration_id"] == str(one)
    assert await holder(app_database, "brr_one") is None
    assert await holder(app_database, plain.stdout.strip()) is None
    assert await holder(app_database, document["token"]) == (one, False)


async def test_a_revoked_runner_gets_no_new_token(app_database: Database) -> None:
    one = await registered(app_database, "bench-1", "brr_one")
    await run("revoke", str(one))
    done = await run("rotate", str(one))
    assert (done.returncode, done.stdout) == (2, "")
    assert "is revoked" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["revoke", "rotate"])
async def test_an_unknown_runner_is_one_line_and_exit_code_2(command: str) -> None:
    done = await run(command, str(uuid4()))
    assert (done.returncode, done.stdout) == (2, "")
    assert "runner list" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["revoke", "rotate"])
def test_what_is_no_id_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["runner", command, "bench-1"])
    assert ended.value.code == 2
    assert "whole id" in capsys.readouterr().err


async def test_a_database_that_was_never_migrated_is_exit_code_3(
    empty_database: Secret, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOARDREADYOPS_DATABASE_URL", empty_database.reveal())
    done = await run("list")
    assert done.returncode == 3
    assert "run `boardreadyops migrate`" in done.stderr
