"""The rows of the model: what the design fixes about each entity, under natural keys instead of random ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tests.model.edges import ATTEMPT_TERMINAL, RUN_TERMINAL


class RefKey(NamedTuple):
    """A ref of a repository."""

    repository_id: int
    ref: str


class RunKey(NamedTuple):
    """The natural key of a run."""

    repository_id: int
    ref: str
    commit_sha: str

    @property
    def of_ref(self) -> RefKey:
        return RefKey(self.repository_id, self.ref)


class AttemptKey(NamedTuple):
    """An attempt is the n-th of its run."""

    run: RunKey
    number: int


class PublicationKey(NamedTuple):
    """The Check Run of one asking."""

    run: RunKey
    retry_number: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Installation:
    """A tenant; clocks that are None fall back to the deployment's."""

    id: int
    enabled: bool = True
    fork_policy: str = "approve"
    execution_backend: str = "runner"
    approval_timeout_seconds: int | None = None
    queue_timeout_seconds: int | None = None
    start_timeout_seconds: int | None = None
    run_timeout_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of an installation."""

    id: int
    installation_id: int
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Registration:
    """A runner; a managed one has no installation."""

    id: str
    installation_id: int | None
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """What was last observed, when, and the run that answers for it."""

    key: RefKey
    open: bool
    draft: bool
    base_ref: str | None  # a branch, tag or merge-queue ref has none
    base_sha: str | None
    head_sha: str
    observed_at: int
    observation: int
    authoritative: RunKey | None


@dataclass(frozen=True, slots=True)
class Run:
    """A release run; times in seconds, `due_at` None once terminal."""

    key: RunKey
    status: str
    version: int
    decision: str | None
    reason_code: str | None
    retry_number: int
    attempt: AttemptKey | None
    superseded_by: RunKey | None
    base_sha: str | None
    trust_mode: str
    backend: str
    approval: str  # not_needed | waiting | approved
    due_at: int | None
    cancelled_by: str | None = None
    installation_id: int = 0
    queued_at: int = 0
    finished_at: int | None = None
    lost_attempts: int = 0  # counts to the bound of this asking
    relinquished: int = 0
    not_before: int = field(default=0, compare=False)

    @property
    def terminal(self) -> bool:
        return self.status in RUN_TERMINAL


@dataclass(frozen=True, slots=True)
class Attempt:
    """An execution attempt; `inferred`: it ended without a word from its runner."""

    key: AttemptKey
    retry_number: int
    status: str
    version: int
    inferred: bool = False
    bound_to: tuple[int, int] | None = None  # workflow run id and run_attempt

    @property
    def terminal(self) -> bool:
        return self.status in ATTEMPT_TERMINAL


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the append-only history; the entity is a run or an attempt."""

    entity: RunKey | AttemptKey
    from_status: str
    to_status: str
    from_version: int
    to_version: int
    reason_code: str
    occurred_at: int
    installation_id: int

    @property
    def run(self) -> RunKey:
        return self.entity.run if isinstance(self.entity, AttemptKey) else self.entity


@dataclass(frozen=True, slots=True)
class Lease:
    """A runner's time-limited right to an attempt, with the lifecycle snapshot it owns."""

    attempt: AttemptKey
    registration: str
    request: str
    state: str
    stage: str
    run_status: str
    run_version: int
    attempt_status: str
    attempt_version: int
    expires_at: int
    maximum_expires_at: int


class Told(NamedTuple):
    """The frozen payload of a check: what a person could see."""

    status: str
    reason_code: str | None
    decision: str | None
    approval: str
    stage: str | None
    cancelled_by: str | None
    superseded_by: RunKey | None
    attempt: AttemptKey | None


@dataclass(frozen=True, slots=True)
class Publication:
    """A Check Run: what GitHub must be told, what it acknowledged, and the fence."""

    key: PublicationKey
    told: Told
    desired_seq: int
    acked_seq: int
    generation: int
    doubtful: bool
    leased: bool
    check_run_id: int | None
    closed: bool
    claimed_until: int | None = None
    available_at: int = field(default=0, compare=False)

    @property
    def payload_status(self) -> str:
        return self.told.status


@dataclass(frozen=True, slots=True)
class Result:
    """The accepted result of an attempt."""

    attempt: AttemptKey
    digest: str
    status: str
    decision: str


@dataclass(frozen=True, slots=True)
class Audit:
    """A result that changed nothing, on record."""

    attempt: AttemptKey
    outcome: str  # late | conflict
    digest: str
    status: str
    decision: str


class EffectKey(NamedTuple):
    """The n-th effect of this kind about this thing: a ref, an attempt, or a repository's workflow run."""

    kind: str  # confirm | workflow_dispatch | workflow_cancel
    about: RefKey | AttemptKey | tuple[int, int]
    number: int


@dataclass(frozen=True, slots=True)
class Effect:
    """Something GitHub must be told or asked once; `started`: its one request may have been sent."""

    key: EffectKey
    generation: int
    started: bool
    settled: bool
    available_at: int
    claimed_until: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The deployment's clocks (seconds) and bounds."""

    approval_timeout_seconds: int = 7 * 86_400
    queue_timeout_seconds: int = 6 * 3_600
    start_timeout_seconds: int = 1_800
    run_timeout_seconds: int = 5_400
    lease_seconds: int = 120
    max_execution_attempts: int = 3
    max_relinquishes: int = 20
    doubt_seconds: int = 60


@dataclass(slots=True)
class State:
    """Everything the model knows. The database is read into the same shape, so that both face the same questions."""

    settings: Settings = field(default_factory=Settings)
    installations: dict[int, Installation] = field(default_factory=dict)
    repositories: dict[int, Repository] = field(default_factory=dict)
    registrations: dict[str, Registration] = field(default_factory=dict)
    refs: dict[RefKey, Ref] = field(default_factory=dict)
    runs: dict[RunKey, Run] = field(default_factory=dict)
    attempts: dict[AttemptKey, Attempt] = field(default_factory=dict)
    leases: dict[AttemptKey, Lease] = field(default_factory=dict)
    publications: dict[PublicationKey, Publication] = field(default_factory=dict)
    results: dict[AttemptKey, Result] = field(default_factory=dict)
    audits: list[Audit] = field(default_factory=list)
    effects: dict[EffectKey, Effect] = field(default_factory=dict)
    silences: dict[AttemptKey, int] = field(default_factory=dict)  # when its workflow was first seen ended
    events: list[Event] = field(default_factory=list)

    def runs_of(self, ref: RefKey) -> list[Run]:
        return [run for run in self.runs.values() if run.key.of_ref == ref]

    def attempt_of(self, run: Run) -> Attempt | None:
        return None if run.attempt is None else self.attempts[run.attempt]

    def enabled(self, repository_id: int) -> bool:
        repository = self.repositories[repository_id]
        return repository.enabled and self.installations[repository.installation_id].enabled
