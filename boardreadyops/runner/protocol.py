"""Runner protocol v1: the messages of `/runner/v1`. Read a body with `read_message`, never with pydantic's own reader."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from boardreadyops.runner.result import MAX_RESULT_BYTES, ResultV1
from boardreadyops.runner.wire import Id, Message, Moment, Name, Refused, Sha, Text, Token, read_message

__all__ = [
    "API_PREFIX",
    "CAPABILITY_PATTERN",
    "MAX_REQUEST_BYTES",
    "MAX_RESULT_BYTES",
    "PROBLEM_MEDIA_TYPE",
    "STAGES",
    "HeartbeatAnswer",
    "HeartbeatRequest",
    "LeaseAnswer",
    "LeaseRepository",
    "LeaseRequest",
    "LeaseState",
    "Problem",
    "Refused",
    "RegistrationAnswer",
    "RegistrationRequest",
    "RelinquishAnswer",
    "RelinquishReason",
    "RelinquishRequest",
    "ResultAnswer",
    "ResultOutcome",
    "ResultV1",
    "SourceTokenAnswer",
    "Stage",
    "read_message",
]

API_PREFIX = "/runner/v1"
PROBLEM_MEDIA_TYPE = "application/problem+json"

MAX_REQUEST_BYTES = 64 * 1024  # every request but a result
MAX_VERSION_CHARACTERS = 100
MAX_WAIT_SECONDS = 30  # a claim's long poll
MAX_MESSAGE_CHARACTERS = 500  # what a heartbeat or a relinquish may say
MAX_PROBLEM_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 2_000
MAX_REF_CHARACTERS = 1_000
MAX_CAPABILITIES = 64
MAX_NEEDS = 20  # that one relinquish may name
MAX_LEASE_ANSWER_SECONDS = 90 * 86_400

Stage = Literal["claimed", "preparing_source", "running", "uploading_artifacts", "reporting"]
STAGES: tuple[Stage, ...] = ("claimed", "preparing_source", "running", "uploading_artifacts", "reporting")
LeaseState = Literal[
    "active",
    "expired",
    "revoked",
    "completed",
    "relinquished",
    "superseded",
    "cancelled",
    "timed_out",
    "failed",
]
ResultOutcome = Literal["accepted", "replayed", "late", "conflict", "not_found"]

RelinquishReason = Literal["shutdown", "capacity", "operator", "job_error", "capability"]
RelinquishOutcome = Literal["accepted", "replayed", "stale"]

CAPABILITY_PATTERN = r"^[a-z][a-z0-9_.-]{0,62}(=[!-~]{1,128})?$"
Capability = Annotated[str, StringConstraints(pattern=CAPABILITY_PATTERN)]
NEED_PATTERN = r"^[a-z][a-z0-9_.-]{0,62}(>?=[!-~]{1,128})?$"
Need = Annotated[str, StringConstraints(pattern=NEED_PATTERN)]


class RegistrationRequest(Message):
    """A runner turns its enrolment token into a registration."""

    enrollment_token: Token
    name: Name
    version: Annotated[Text, StringConstraints(max_length=MAX_VERSION_CHARACTERS)]


class RegistrationAnswer(Message):
    """The runner's own token; it is shown this once."""

    registration_id: Id
    token: Token


class LeaseRequest(Message):
    """A claim. The same `request_id` again asks for the same lease."""

    request_id: Id
    capabilities: Annotated[list[Capability], Field(max_length=MAX_CAPABILITIES)] = Field(
        default_factory=list
    )
    wait_seconds: Annotated[int, Field(ge=0, le=MAX_WAIT_SECONDS)] = 0


class LeaseRepository(Message):
    """Where the source is."""

    id: Annotated[int, Field(ge=1, lt=2**63)]
    owner: Name
    name: Name
    private: bool
    clone_url: Annotated[Text, StringConstraints(min_length=1, max_length=MAX_URL_CHARACTERS)]


class LeaseAnswer(Message):
    """A lease. Seconds count from the sending of the request, so that clocks do not matter."""

    lease_id: Id
    lease_token: Token
    release_run_id: Id
    execution_attempt_id: Id
    retry_id: Id
    retry_number: Annotated[int, Field(ge=0)]
    repository: LeaseRepository
    ref: Annotated[Text, StringConstraints(min_length=1, max_length=MAX_REF_CHARACTERS)]
    pull_request_number: Annotated[int, Field(ge=1)] | None
    commit_sha: Sha
    base_sha: Sha | None
    trust_mode: Literal["trusted", "fork"]
    heartbeat_seconds: Annotated[float, Field(gt=0, le=MAX_LEASE_ANSWER_SECONDS)]
    expires_in_seconds: Annotated[int, Field(ge=0, le=MAX_LEASE_ANSWER_SECONDS)]
    maximum_expires_in_seconds: Annotated[int, Field(ge=0, le=MAX_LEASE_ANSWER_SECONDS)]


class HeartbeatRequest(Message):
    """A sign of life. A stage before the one already reached is ignored."""

    stage: Stage
    progress: Annotated[int, Field(ge=0, le=100)] = 0
    message: Annotated[Text, StringConstraints(max_length=MAX_MESSAGE_CHARACTERS)] = ""


class HeartbeatAnswer(Message):
    """Whether to go on, and how long the lease still lives."""

    state: LeaseState
    directive: Literal["continue", "stop"]
    reason: Annotated[Text, StringConstraints(max_length=128)] | None
    expires_in_seconds: Annotated[int, Field(ge=0, le=MAX_LEASE_ANSWER_SECONDS)]
    maximum_expires_in_seconds: Annotated[int, Field(ge=0, le=MAX_LEASE_ANSWER_SECONDS)]


class RelinquishRequest(Message):
    """The run goes back to the queue. `needs` is what was missing; it is kept with `capability` alone."""

    reason: RelinquishReason
    message: Annotated[Text, StringConstraints(max_length=MAX_MESSAGE_CHARACTERS)] = ""
    needs: Annotated[list[Need], Field(max_length=MAX_NEEDS)] = Field(default_factory=list)


class RelinquishAnswer(Message):
    """What became of it; `stale` when the lease was over already."""

    outcome: RelinquishOutcome


class SourceTokenAnswer(Message):
    """A token that reads the contents of this one repository; `expires_at` is GitHub's clock, UTC."""

    token: Token
    expires_at: Moment


class ResultAnswer(Message):
    """What became of a result; an audit id comes with `late` and `conflict`."""

    outcome: ResultOutcome
    audit_id: int | None


class Problem(Message):
    """An error, as RFC 9457 has it, with a stable `code`."""

    type: Annotated[Text, StringConstraints(max_length=MAX_URL_CHARACTERS)] = "about:blank"
    title: Annotated[Text, StringConstraints(max_length=MAX_PROBLEM_CHARACTERS)]
    status: Annotated[int, Field(ge=100, le=599)]
    detail: Annotated[Text, StringConstraints(max_length=MAX_PROBLEM_CHARACTERS)] = ""
    code: Annotated[Text, StringConstraints(max_length=128)]
