"""Installations, repositories and the deployment's defaults: the only direct writer outside the guarded functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from boardreadyops.config import Settings
from boardreadyops.db.pool import Connection
from boardreadyops.db.statements import statement
from boardreadyops.domain.identity import InstallationState, RepositoryFacts


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """A repository that was found by its name."""

    id: int
    installation_id: int
    owner: str
    name: str


async def note_installation(
    connection: Connection, *, installation_id: int, account_login: str, account_id: int | None
) -> None:
    """Know an installation that an event mentions before its own event came. Alters nothing that is known."""
    await connection.execute(statement("note_installation"), installation_id, account_login, account_id)


async def put_installation(connection: Connection, state: InstallationState) -> bool:
    """Store what an installation event says, unless a later one is stored: then False, and nothing changed."""
    written = await connection.fetchval(
        statement("put_installation"),
        state.installation_id,
        state.account_login,
        state.account_id,
        state.suspended,
        state.removed,
        state.observed_at,
    )
    return bool(written)


async def put_repository(
    connection: Connection, installation_id: int, facts: RepositoryFacts, *, observed_at: datetime
) -> None:
    """Store a repository's name and visibility, unless a later event told. Never moves it to another installation."""
    await connection.execute(
        statement("put_repository"),
        facts.repository_id,
        installation_id,
        facts.owner,
        facts.name,
        facts.private,
        facts.default_branch,
        observed_at,
    )


async def find_repositories(connection: Connection, full_names: list[str]) -> tuple[KnownRepository, ...]:
    """Repositories by `owner/name`, compared without case as GitHub does; unknown names are left out."""
    rows = await connection.fetch(statement("find_repositories"), full_names)
    return tuple(KnownRepository(**dict(row)) for row in rows)


async def configure_deployment(connection: Connection, settings: Settings) -> None:
    """Store the deployment's clocks and bounds, where every guarded function reads them. Idempotent."""
    await connection.execute(
        statement("configure_deployment"),
        settings.approval_timeout_seconds,
        settings.queue_timeout_seconds,
        settings.start_timeout_seconds,
        settings.run_timeout_seconds,
        settings.lease_seconds,
        settings.max_execution_attempts,
    )
