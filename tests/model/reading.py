"""Reads the database into the model's shape: natural keys for ids, whole seconds since an epoch for times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from boardreadyops.db.pool import Connection, Record
from tests.model.columns import column_faults
from tests.model.edges import STAGES
from tests.model.rows import (
    Attempt,
    AttemptKey,
    Audit,
    Effect,
    EffectKey,
    Event,
    Installation,
    Lease,
    Publication,
    PublicationKey,
    Ref,
    RefKey,
    Registration,
    Repository,
    Result,
    Run,
    RunKey,
    State,
    Told,
)

TABLES = {
    "installations": "id",
    "repositories": "id",
    "runner_registrations": "id",
    "refs": "repository_id, ref",
    "release_runs": "created_at, id",
    "release_run_attempts": "release_run_id, number, created_at, id",
    "release_run_transition_events": "id",
    "runner_leases": "claimed_at, id",
    "publications": "id",
    "runner_results": "execution_attempt_id",
    "runner_result_audit": "id",
    "outbox": "id",
    "reconciliation_findings": "id",
}


@dataclass(slots=True)
class Picture:
    """The database at one moment: the model's state, and the ids behind its keys."""

    state: State
    run_ids: dict[RunKey, UUID]
    retry_ids: dict[tuple[RunKey, int], UUID]
    attempt_ids: dict[AttemptKey, UUID]
    lease_ids: dict[AttemptKey, UUID]
    publication_ids: dict[PublicationKey, int]
    effect_ids: dict[EffectKey, int]
    keys: dict[UUID, RunKey]
    faults: list[str]  # of columns that the model has no fields for


async def read_picture(owner: Connection, epoch: datetime) -> Picture:
    """Everything, in a repeatable snapshot."""
    async with owner.transaction(isolation="repeatable_read", readonly=True):
        tables = {
            name: await owner.fetch(f"SELECT * FROM {name} ORDER BY {order}")
            for name, order in TABLES.items()
        }
    return _Reader(tables, epoch).picture()


class _Reader:
    def __init__(self, tables: dict[str, list[Record]], epoch: datetime) -> None:
        self.tables, self.epoch = tables, epoch
        self.runs = {
            row["id"]: RunKey(row["repository_id"], row["ref"], row["commit_sha"])
            for row in tables["release_runs"]
        }
        self.retries = {row["retry_id"]: row["retry_number"] for row in tables["publications"]}
        self.attempts: dict[UUID, AttemptKey] = {}
        seen: dict[RunKey, int] = {}
        rows = sorted(
            tables["release_run_attempts"], key=lambda row: (self.retries[row["retry_id"]], row["number"])
        )
        for row in rows:
            run = self.runs[row["release_run_id"]]
            seen[run] = seen.get(run, 0) + 1
            self.attempts[row["id"]] = AttemptKey(run, seen[run])

    def seconds(self, at: datetime | None) -> int | None:
        return None if at is None else self.second(at)

    def second(self, at: datetime) -> int:
        return (at.replace(tzinfo=UTC) - self.epoch) // timedelta(
            seconds=1
        )  # `infinity` is read without a zone

    def picture(self) -> Picture:
        state = State()
        self._tenants(state)
        state.refs = {ref.key: ref for ref in map(self._ref, self.tables["refs"])}
        state.runs = {run.key: run for run in map(self._run, self.tables["release_runs"])}
        state.attempts = {row.key: row for row in map(self._attempt, self.tables["release_run_attempts"])}
        leases = [self._lease(row) for row in self.tables["runner_leases"]]
        state.leases = {lease.attempt: lease for lease in leases}
        assert len(leases) == len(state.leases), "two leases for one attempt"
        publications = [self._publication(row) for row in self.tables["publications"]]
        state.publications = {publication.key: publication for publication in publications}
        state.events = [self._event(row) for row in self.tables["release_run_transition_events"]]
        state.results = {row.attempt: row for row in map(self._result, self.tables["runner_results"])}
        state.audits = [self._audit(row) for row in self.tables["runner_result_audit"]]
        effects = self._effects()
        state.effects = {effect.key: effect for effect in effects}
        for row in self.tables["reconciliation_findings"]:
            if row["execution_attempt_id"] is not None and row["settled_at"] is None:
                state.silences[self.attempts[row["execution_attempt_id"]]] = self.second(row["found_at"])
        return Picture(
            state,
            {key: id for id, key in self.runs.items()},
            {
                (self.runs[row["release_run_id"]], row["retry_number"]): row["retry_id"]
                for row in self.tables["publications"]
            },
            {key: id for id, key in self.attempts.items()},
            {self.attempts[row["execution_attempt_id"]]: row["id"] for row in self.tables["runner_leases"]},
            {
                publication.key: row["id"]
                for publication, row in zip(publications, self.tables["publications"], strict=True)
            },
            {effect.key: row["id"] for effect, row in zip(effects, self.tables["outbox"], strict=True)},
            self.runs,
            column_faults(self.tables),
        )

    def _effects(self) -> list[Effect]:
        effects: list[Effect] = []
        seen: dict[object, int] = {}
        for row in self.tables["outbox"]:
            kind: str = row["kind"]
            about: RefKey | AttemptKey | tuple[int, int] = RefKey(row["repository_id"], row["ref"])
            if kind == "workflow_dispatch":
                about = self.attempts[row["execution_attempt_id"]]
            elif kind == "workflow_cancel":
                about = (row["repository_id"], row["workflow_run_id"])
            else:
                kind = "confirm"
            seen[kind, about] = seen.get((kind, about), 0) + 1
            effects.append(
                Effect(
                    EffectKey(kind, about, seen[kind, about]),
                    row["generation"],
                    row["started_at"] is not None,
                    row["settled_at"] is not None,
                    self.second(row["available_at"]),
                    self.seconds(row["claimed_until"]),
                )
            )
        return effects

    def _tenants(self, state: State) -> None:
        for row in self.tables["installations"]:
            state.installations[row["id"]] = Installation(
                row["id"], enabled=not (row["suspended"] or row["removed"])
            )
        for row in self.tables["repositories"]:
            state.repositories[row["id"]] = Repository(row["id"], row["installation_id"], row["enabled"])
        for row in self.tables["runner_registrations"]:
            state.registrations[row["name"]] = Registration(
                row["name"], row["installation_id"], row["revoked_at"] is not None
            )
        self.registrations = {row["id"]: row["name"] for row in self.tables["runner_registrations"]}

    def _ref(self, row: Record) -> Ref:
        return Ref(
            RefKey(row["repository_id"], row["ref"]),
            row["open"],
            row["draft"],
            row["base_ref"],
            row["base_sha"],
            row["head_sha"],
            self.second(row["observed_at"]),
            row["observation"],
            None if row["release_run_id"] is None else self.runs[row["release_run_id"]],
        )

    def _run(self, row: Record) -> Run:
        return Run(
            self.runs[row["id"]],
            row["status"],
            row["version"],
            row["decision"],
            row["reason_code"],
            row["retry_number"],
            None if row["execution_attempt_id"] is None else self.attempts[row["execution_attempt_id"]],
            None if row["superseded_by"] is None else self.runs[row["superseded_by"]],
            row["base_sha"],
            row["trust_mode"],
            row["execution_backend"],
            row["approval"],
            self.seconds(row["due_at"]),
            row["cancelled_by"],
            installation_id=row["installation_id"],
            queued_at=self.second(row["queued_at"]),
            finished_at=self.seconds(row["finished_at"]),
            lost_attempts=row["lost_attempts"],
            relinquished=row["given_back"],
        )

    def _attempt(self, row: Record) -> Attempt:
        bound = row["workflow_run_id"]
        return Attempt(
            self.attempts[row["id"]],
            self.retries[row["retry_id"]],
            row["status"],
            row["version"],
            row["inferred"],
            None if bound is None else (bound, row["workflow_run_attempt"]),
        )

    def _lease(self, row: Record) -> Lease:
        assert row["stage"] in STAGES
        return Lease(
            self.attempts[row["execution_attempt_id"]],
            self.registrations[row["registration_id"]],
            str(row["request_id"]),
            row["state"],
            row["stage"],
            row["expected_run_status"],
            row["expected_run_version"],
            row["expected_attempt_status"],
            row["expected_attempt_version"],
            self.second(row["expires_at"]),
            self.second(row["maximum_expires_at"]),
        )

    def _publication(self, row: Record) -> Publication:
        return Publication(
            PublicationKey(self.runs[row["release_run_id"]], row["retry_number"], row["ordinal"]),
            self._told(row["payload"]),
            row["desired_seq"],
            row["acked_seq"],
            row["generation"],
            row["doubtful"],
            row["leased"],
            row["check_run_id"],
            closed=row["closed_code"] is not None,
            claimed_until=self.seconds(row["claimed_until"]),
            available_at=self.second(row["available_at"]),
        )

    def _told(self, payload: Mapping[str, Any]) -> Told:
        successor, attempt = payload["superseded_by"], payload["execution_attempt_id"]
        return Told(
            payload["status"],
            payload["reason_code"],
            payload["decision"],
            payload["approval"],
            payload["stage"],
            payload["cancelled_by"],
            None if successor is None else self.runs[UUID(successor)],
            None if attempt is None else self.attempts[UUID(attempt)],
        )

    def _event(self, row: Record) -> Event:
        is_run = row["entity_type"] == "release_run"
        return Event(
            self.runs[row["release_run_id"]] if is_run else self.attempts[row["execution_attempt_id"]],
            row["from_status"],
            row["to_status"],
            row["from_version"],
            row["to_version"],
            row["reason_code"],
            self.second(row["occurred_at"]),
            row["installation_id"],
        )

    def _result(self, row: Record) -> Result:
        attempt = self.attempts[row["execution_attempt_id"]]
        return Result(attempt, bytes(row["body_sha256"]).hex(), row["status"], row["decision"])

    def _audit(self, row: Record) -> Audit:
        attempt = self.attempts[row["execution_attempt_id"]]
        digest = bytes(row["body_sha256"]).hex()
        return Audit(attempt, row["outcome"], digest, row["status"], row["decision"])
