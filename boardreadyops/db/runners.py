"""Runner enrolments and registrations. Tokens come in as SHA-256 digests; the database never sees one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement


@dataclass(frozen=True, slots=True)
class Enrollment:
    """The outcome of asking for an enrolment; `expires_at` is UTC, None unless issued."""

    outcome: Literal["issued", "not_found", "invalid"]
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class RegistrationAnswer:
    """The outcome of a registration; refused says no more, so that nothing leaks."""

    outcome: Literal["registered", "refused"]
    registration_id: UUID | None


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered runner; a managed one has no installation."""

    id: UUID
    installation_id: int | None
    name: str
    revoked: bool


@dataclass(frozen=True, slots=True)
class ListedRunner:
    """A runner as an operator sees it; times are UTC. A managed one has no installation."""

    id: UUID
    name: str
    runner_version: str
    installation_id: int | None
    account_login: str | None
    repositories: list[str] | None
    created_at: datetime
    revoked_at: datetime | None
    active_leases: int
    last_heartbeat_at: datetime | None


async def issue_runner_enrollment(
    connection: Connection,
    *,
    installation_id: int | None,
    repository_ids: list[int] | None,
    name: str,
    token_digest: bytes,
    ttl_seconds: int,
) -> Enrollment:
    """Let one runner register within `ttl_seconds` (1 to 3600)."""
    row = await connection.fetchrow(
        statement("issue_runner_enrollment"), installation_id, repository_ids, name, token_digest, ttl_seconds
    )
    assert row is not None
    return Enrollment(**dict(row))


async def register_runner(
    connection: Connection, *, enrollment_digest: bytes, token_digest: bytes, name: str, runner_version: str
) -> RegistrationAnswer:
    """Turn an enrolment into a registration, once."""
    row = await connection.fetchrow(
        statement("register_runner"), enrollment_digest, token_digest, name, runner_version
    )
    assert row is not None
    return RegistrationAnswer(**dict(row))


async def find_registration(connection: Connection, *, token_digest: bytes) -> Registration | None:
    """The runner that a token belongs to, also when it is revoked."""
    row = await connection.fetchrow(statement("find_registration"), token_digest)
    return None if row is None else Registration(**dict(row))


async def revoke_runner(
    connection: Connection, *, registration_id: UUID
) -> Literal["applied", "existing", "not_found"]:
    """Void a registration and end its leases at once. Idempotent."""
    outcome: Literal["applied", "existing", "not_found"] = await connection.fetchval(
        statement("revoke_runner"), registration_id
    )
    return outcome


async def rotate_runner_token(
    connection: Connection, *, registration_id: UUID, token_digest: bytes
) -> Literal["applied", "existing", "revoked", "not_found"]:
    """Give a registration a new token; the old one is void at once, leases go on. Idempotent."""
    outcome: Literal["applied", "existing", "revoked", "not_found"] = await connection.fetchval(
        statement("rotate_runner_token"), registration_id, token_digest
    )
    return outcome


async def list_runners(connection: Connection, *, with_revoked: bool, limit: int) -> tuple[ListedRunner, ...]:
    """Registered runners by name."""
    rows = await connection.fetch(statement("list_runners"), with_revoked, limit)
    return tuple(ListedRunner(**dict(row)) for row in rows)
