"""Where races are run: one database, emptied after every walk; its moves, and how its end is told in one line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from boardreadyops.db.leases import LeaseGrant, claim_runner_lease, lease_grant
from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.outbox import claim_outbox
from boardreadyops.db.pool import Connection, Record
from boardreadyops.db.publications import acknowledge_publication, claim_publications, record_check_run
from boardreadyops.db.runners import issue_runner_enrollment, register_runner
from boardreadyops.db.runs import enqueue_release_run
from boardreadyops.domain.identity import Observation, RepositoryFacts
from tests.races.scheduler import Gate, Scheduler

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
SHA_A, SHA_B, SHA_C = "a" * 40, "b" * 40, "c" * 40
EMPTIED = (
    "runner_result_audit",
    "runner_results",
    "publications",
    "reconciliation_findings",
    "outbox",
    "runner_leases",
    "release_run_transition_events",
    "release_run_attempts",
    "release_runs",
    "refs",
    "runner_registrations",
    "runner_enrollments",
)
# What a gate can hold, in the order of locks. The whole table is one situation's rows.
CLASSES = (
    "runner_registrations",
    "refs",
    "release_runs",
    "release_run_attempts",
    "runner_leases",
    "outbox",
    "publications",
)
_HELD = tuple(f"SELECT FROM {table} FOR NO KEY UPDATE" for table in reversed(CLASSES))
STAIRS = Gate("stairs", _HELD, waits_for_both=True)
GATES = tuple(Gate(table, (f"SELECT FROM {table} FOR NO KEY UPDATE",)) for table in CLASSES)

_END = """
    SELECT run.ref, left(run.commit_sha, 1) AS sha, run.status, run.decision, run.reason_code, run.retry_number,
           run.approval,
           ARRAY(SELECT attempt.status || COALESCE(' under ' || lease.state, '') FROM release_run_attempts AS attempt
                 LEFT JOIN runner_leases AS lease ON lease.execution_attempt_id = attempt.id
                 WHERE attempt.release_run_id = run.id ORDER BY attempt.number) AS attempts
    FROM release_runs AS run ORDER BY run.ref, run.commit_sha
"""
_EFFECTS = """
    SELECT kind || COALESCE(' ' || outcome_code, CASE WHEN started_at IS NOT NULL THEN ' started' ELSE ' due' END)
    FROM outbox ORDER BY 1
"""
_CHECKS = """
    SELECT format('%s%s.%s %s%s', left(publication.commit_sha, 1), publication.retry_number, ordinal, payload ->> 'status',
                  CASE WHEN acked_seq = desired_seq THEN ' told' WHEN leased THEN ' leased' ELSE ' due' END)
    FROM publications AS publication JOIN release_runs AS run ON run.id = publication.release_run_id
    ORDER BY run.ref, run.commit_sha, publication.retry_number, ordinal
"""
_REF = "SELECT left(head_sha, 1) || observation || CASE WHEN open THEN '' ELSE ' closed' END FROM refs ORDER BY ref"


@dataclass(slots=True)
class Arena:
    """Preparation goes through the working login's own connection, each move in its own transaction."""

    scheduler: Scheduler
    app: Connection
    owner: Connection
    number: int = 0
    runners: list[UUID] = field(default_factory=list)

    async def empty(self) -> None:
        """Nothing but the tenant is left; the next pull request has a number never used before."""
        self.number += 10
        self.runners = []
        # A superuser's replica role passes by triggers, the append-only one too. Nobody else can do this.
        deletes = "; ".join(f"DELETE FROM {table}" for table in EMPTIED)
        await self.owner.execute(
            f"SET session_replication_role = replica; {deletes}; SET session_replication_role = DEFAULT;"
            "UPDATE sweep_marks SET swept_at = clock_timestamp(), grace_until = NULL;"
            "UPDATE installations SET fork_policy = 'approve', execution_backend = NULL, suspended = false, observed_at = NULL"
        )

    async def found(self) -> None:
        """The tenant, once."""
        await note_installation(self.app, installation_id=1, account_login="acme", account_id=7)
        facts = RepositoryFacts(
            repository_id=10, owner="acme", name="power-board", private=True, default_branch="main"
        )
        await put_repository(self.app, 1, facts, observed_at=datetime(2026, 1, 1, tzinfo=UTC))

    def seen(
        self, head_sha: str = SHA_A, *, minute: int = 0, other: int = 0, trust: str = "trusted"
    ) -> Observation:
        """This walk's pull request, or the `other`th beside it, `minute` minutes after noon."""
        return Observation(
            installation_id=1,
            repository_id=10,
            ref=f"refs/pull/{self.number + other}/head",
            pull_request_number=self.number + other,
            open=True,
            draft=False,
            head_sha=head_sha,
            base_ref="main",
            base_sha="f" * 40,
            trust_mode=trust,  # type: ignore[arg-type]
            observed_at=NOON + timedelta(minutes=minute),
        )

    async def opened(
        self, head_sha: str = SHA_A, *, minute: int = 0, other: int = 0, trust: str = "trusted"
    ) -> UUID:
        enqueued = await enqueue_release_run(
            self.app, self.seen(head_sha, minute=minute, other=other, trust=trust)
        )
        assert enqueued.release_run_id is not None
        return enqueued.release_run_id

    async def runner(self) -> UUID:
        enrolment, token = hashlib.sha256(uuid4().bytes).digest(), hashlib.sha256(uuid4().bytes).digest()
        name = f"bench-{len(self.runners)}"
        await issue_runner_enrollment(
            self.app,
            installation_id=None,
            repository_ids=None,
            name=name,
            token_digest=enrolment,
            ttl_seconds=900,
        )
        answer = await register_runner(
            self.app, enrollment_digest=enrolment, token_digest=token, name=name, runner_version="1"
        )
        assert answer.registration_id is not None
        self.runners.append(answer.registration_id)
        return answer.registration_id

    async def claimed(self, runner: UUID | None = None) -> LeaseGrant:
        claim = await claim_runner_lease(
            self.app, registration_id=runner or await self.runner(), request_id=uuid4(), capabilities=()
        )
        assert claim.lease_id is not None
        grant = await lease_grant(self.app, claim.lease_id)
        assert grant is not None
        return grant

    async def leased(self) -> LeaseGrant:
        """A running run of this walk's pull request, leased to a runner."""
        await self.opened()
        return await self.claimed()

    async def overdue(self) -> LeaseGrant:
        """The same, whose runner has been silent for longer than its lease."""
        grant = await self.leased()
        await self.owner.execute(
            "UPDATE runner_leases SET expires_at = claimed_at, next_check_at = claimed_at"
        )
        return grant

    async def late(self, *in_this_order: UUID) -> None:
        """Every run's clock has run out; of those named, the first fell due first."""
        await self.owner.execute(
            "UPDATE release_runs SET due_at = created_at"
            " - make_interval(secs => 100 - COALESCE(array_position($1::uuid[], id), 0)) WHERE due_at IS NOT NULL",
            list(in_this_order),
        )

    async def told(self, check_run_id: int) -> None:
        """GitHub shows everything that is due by now."""
        rows = await claim_publications(self.app, limit=10, lease_seconds=60, doubt_seconds=60)
        for offset, row in enumerate(rows):
            await record_check_run(
                self.app,
                publication_id=row.publication_id,
                generation=row.generation,
                check_run_id=row.check_run_id or check_run_id + offset,
            )
            await acknowledge_publication(
                self.app, publication_id=row.publication_id, generation=row.generation, seq=row.seq
            )

    async def dispatching(self) -> tuple[int, int]:
        """An Actions run whose dispatch is claimed by a relay; the effect's id and generation."""
        await self.owner.execute("UPDATE installations SET execution_backend = 'actions'")
        await self.opened()
        await self.told(900)
        (effect,) = await claim_outbox(self.app, limit=1, lease_seconds=60)
        return effect.effect_id, effect.generation

    async def one(self, sql: str) -> Record:
        row = await self.owner.fetchrow(sql)
        assert row is not None
        return row

    async def end(self, *tells: str) -> str:
        """Every run with its attempts; what else a pair tells apart: `effects`, `checks`, `ref`, `why`."""
        lines = []
        for row in await self.owner.fetch(_END):
            status = row["status"] + (f"/{row['decision']}" if row["decision"] else "")
            why = f" because {row['reason_code']}" if "why" in tells else ""
            retry = f" retry {row['retry_number']}" if row["retry_number"] else ""
            lines.append(
                f"{row['sha']} {status}{why}{retry} ({', '.join(row['attempts'])})".replace(" ()", "")
            )
        for word, sql in (("effects", _EFFECTS), ("checks", _CHECKS), ("ref", _REF)):
            if word in tells:
                lines.append(", ".join(row[0] for row in await self.owner.fetch(sql)))
        return "; ".join(lines)
