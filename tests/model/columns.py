"""Columns that repeat what other rows say: tenant, asking, names. The model has no fields for them; they must agree."""

from __future__ import annotations

from collections.abc import Iterator

from boardreadyops.db.pool import Record
from tests.model.publishing import check_name
from tests.model.rows import RunKey

Tables = dict[str, list[Record]]
_OF_A_RUN = (
    "release_run_attempts",
    "release_run_transition_events",
    "runner_leases",
    "publications",
    "runner_results",
    "runner_result_audit",
)


def column_faults(tables: Tables) -> list[str]:
    """Every row whose repeated columns differ from those of the row that they repeat."""
    return [*_tenants(tables), *_askings(tables), *_names(tables), *_times(tables)]


def _tenants(tables: Tables) -> Iterator[str]:
    owners = {row["id"]: row["installation_id"] for row in tables["repositories"]}
    runs = {row["id"]: row for row in tables["release_runs"]}
    for name in ("refs", "release_runs", "outbox", "reconciliation_findings"):
        for row in tables[name]:
            if row["installation_id"] != owners[row["repository_id"]]:
                yield f"{name}: {dict(row)} is another tenant's"
    for name in _OF_A_RUN:
        for row in tables[name]:
            run = runs[row["release_run_id"]]
            if row["installation_id"] != run["installation_id"] or (
                "repository_id" in row and row["repository_id"] != run["repository_id"]
            ):
                yield f"{name}: {dict(row)} is another tenant's than its run"


def _askings(tables: Tables) -> Iterator[str]:
    attempts = {row["id"]: row for row in tables["release_run_attempts"]}
    numbers = {row["retry_id"]: row["retry_number"] for row in tables["publications"]}
    for row in tables["release_runs"]:
        if numbers.get(row["retry_id"]) != row["retry_number"]:
            yield f"release_runs: {row['id']} has no check for its asking"
    for name in ("runner_leases", "runner_results"):
        for row in tables[name]:
            attempt = attempts[row["execution_attempt_id"]]
            if (row["release_run_id"], row["retry_id"]) != (attempt["release_run_id"], attempt["retry_id"]):
                yield f"{name}: {dict(row)} is another asking's than its attempt"


def _names(tables: Tables) -> Iterator[str]:
    runs = {
        row["id"]: RunKey(row["repository_id"], row["ref"], row["commit_sha"])
        for row in tables["release_runs"]
    }
    for row in tables["publications"]:
        run = runs[row["release_run_id"]]
        identity = f"{row['release_run_id']}:{row['retry_number']}:{row['ordinal']}"
        expected = (check_name(run), identity, run.commit_sha)
        if (row["check_name"], row["external_id"], row["commit_sha"]) != expected:
            yield f"publications: {dict(row)} does not read {expected}"
    for name in ("refs", "release_runs", "outbox"):
        for row in tables[name]:
            kind, number = row["ref"].split("/")[1:3]
            if row["pull_request_number"] != (int(number) if kind == "pull" else None):
                yield f"{name}: {dict(row)} has another pull request's number"


def _times(tables: Tables) -> Iterator[str]:
    ends = {
        row["execution_attempt_id"]: row["occurred_at"]
        for row in tables["release_run_transition_events"]
        if row["entity_type"] == "execution_attempt"
    }
    for row in tables["release_run_attempts"]:
        if row["finished_at"] is not None and row["finished_at"] > ends[row["id"]]:
            yield f"release_run_attempts: {dict(row)} finished after its last event"
    for row in tables["runner_leases"]:
        times = [row["claimed_at"], row["heartbeat_at"], row["ended_at"]]
        told = [time for time in times if time is not None]
        if told != sorted(told):
            yield f"runner_leases: {dict(row)} goes back in time"
