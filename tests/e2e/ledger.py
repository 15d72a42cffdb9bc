"""What must hold when nothing moves any more: between the database, the API and what GitHub shows."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

from tests.e2e.system import System, Tenant

SETTLE_SECONDS = 45.0
CONCLUSIONS = {
    ("completed", "pass"): "success",
    ("completed", "fail"): "failure",
    ("failed", "error"): "failure",
    ("failed", None): "failure",
    ("timed_out", "error"): "timed_out",
    ("timed_out", None): "timed_out",
    ("cancelled", None): "neutral",
    ("superseded", None): "neutral",
}
STATUSES = {"queued": "queued", "dispatched": "queued", "running": "in_progress"}


async def settled(system: System, tenants: list[Tenant]) -> None:
    """Wait until GitHub has been told everything, and no run waits for a runner that is at work."""
    async with asyncio.timeout(SETTLE_SECONDS):
        while await _owed(system):
            await _next_change(system)
    assert tenants


async def _owed(system: System) -> int:
    query = "SELECT count(*) FROM publications WHERE acked_seq < desired_seq AND closed_code IS NULL"
    async with system.database() as connection:
        count: int = await connection.fetchval(query)
    return count


async def _next_change(system: System) -> None:
    """Until GitHub was asked for something more, or half a second."""
    told = len(system.github.served)
    try:
        await system.github.check_run(lambda _: len(system.github.served) > told, timeout_seconds=0.5)
    except TimeoutError:
        return


async def lifecycle_rows(system: System) -> dict[str, list[Any]]:
    """Every row that tells a lifecycle."""
    tables = (
        "release_runs",
        "release_run_attempts",
        "release_run_transition_events",
        "runner_results",
        "refs",
    )
    async with system.database() as connection:
        return {
            table: [row[0] for row in await connection.fetch(f"SELECT t::text FROM {table} AS t ORDER BY 1")]
            for table in tables
        }


async def assert_consistent(system: System, tenants: list[Tenant]) -> None:
    """Histories unbroken; each asking has exactly one check, which tells its state; heads are the only open runs."""
    async with system.database() as connection:
        await _histories(connection)
        await _heads(connection, tenants)
        askings = await connection.fetch(
            "SELECT p.external_id, p.retry_number, p.check_run_id, r.retry_number AS current_number, r.status,"
            " r.decision, p.payload FROM publications AS p JOIN release_runs AS r ON r.id = p.release_run_id"
            " WHERE p.closed_code IS NULL"
        )
    shown = {one["external_id"]: one for tenant in tenants for one in tenant.checks()}
    counted = Counter(one["external_id"] for tenant in tenants for one in tenant.checks())
    assert {name: number for name, number in counted.items() if number != 1} == {}
    assert set(shown) == {one["external_id"] for one in askings}
    for asking in askings:
        check = shown[asking["external_id"]]
        assert check["id"] == asking["check_run_id"]
        if asking["retry_number"] != asking["current_number"]:
            assert check["conclusion"] == "neutral", check
        elif asking["status"] in STATUSES:
            assert (check["status"], check["conclusion"]) == (STATUSES[asking["status"]], None), check
        else:
            wanted = CONCLUSIONS[asking["status"], asking["decision"]]
            assert (check["status"], check["conclusion"]) == ("completed", wanted), (check, dict(asking))


async def _histories(connection: Any) -> None:
    """version = number of events; each event begins where the one before ended; the last tells the status."""
    for table, entity, key in (
        ("release_runs", "release_run", "release_run_id"),
        ("release_run_attempts", "execution_attempt", "execution_attempt_id"),
    ):
        events = await connection.fetch(
            f"SELECT {key} AS id, from_status, to_status, from_version, to_version"
            " FROM release_run_transition_events WHERE entity_type = $1 ORDER BY id",
            entity,
        )
        chains: dict[object, list[Any]] = {}
        for event in events:
            chains.setdefault(event["id"], []).append(event)
        for row in await connection.fetch(f"SELECT id, status, version FROM {table}"):
            chain = chains.pop(row["id"], [])
            assert [one["to_version"] for one in chain] == list(range(1, row["version"] + 1)), row
            assert all(one["from_version"] + 1 == one["to_version"] for one in chain)
            for before, after in pairwise(chain):
                assert before["to_status"] == after["from_status"], row
            assert not chain or chain[-1]["to_status"] == row["status"], row
        assert chains == {}


async def _heads(connection: Any, tenants: list[Tenant]) -> None:
    for tenant in tenants:
        for number, pull in tenant.repository.pulls.items():
            ref = f"refs/pull/{number}/head"
            stored = await connection.fetchrow(
                "SELECT f.head_sha, f.open, r.commit_sha, r.status FROM refs AS f"
                " LEFT JOIN release_runs AS r ON r.id = f.release_run_id WHERE f.repository_id = $1 AND f.ref = $2",
                *(tenant.repository.id, ref),
            )
            if stored is None:
                continue
            assert (stored["head_sha"], stored["open"]) == (pull.head_sha, pull.state == "open"), (
                ref,
                stored,
            )
            assert not stored["open"] or stored["commit_sha"] == pull.head_sha
            assert not stored["open"] or stored["status"] not in ("superseded", "cancelled"), (ref, stored)
            others = await connection.fetchval(
                "SELECT count(*) FROM release_runs WHERE repository_id = $1 AND ref = $2 AND commit_sha <> $3"
                " AND status IN ('queued', 'dispatched', 'running')",
                *(tenant.repository.id, ref, pull.head_sha),
            )
            assert others == 0, ref
    leases = await connection.fetchval(
        "SELECT count(*) FROM runner_leases AS l JOIN release_runs AS r ON r.id = l.release_run_id"
        " WHERE l.state = 'active' AND (r.status <> 'running' OR r.execution_attempt_id <> l.execution_attempt_id)"
    )
    assert leases == 0
