"""What the web is given to work with. Routes take it from the request; nothing is global."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast

from fastapi import Request

from boardreadyops.config import Secret, Settings
from boardreadyops.db.migrate import Fit
from boardreadyops.db.pool import Connection, Database
from boardreadyops.github.requests import Failure
from boardreadyops.web.waiting import WorkSignal


class MintedToken(Protocol):
    """A token of GitHub's; `expires_at` is UTC."""

    @property
    def secret(self) -> Secret:
        """The token itself."""

    @property
    def expires_at(self) -> datetime:
        """When GitHub stops taking it."""


class TokenMint(Protocol):
    """The one thing the web asks of GitHub. `github.client.GitHubClient` is one; a webhook cannot reach further."""

    async def installation_token(
        self,
        installation_id: int,
        *,
        repository_ids: Sequence[int] | None = None,
        permissions: Mapping[str, str] | None = None,
    ) -> MintedToken | Failure:
        """A token for an installation, limited to these repositories and permissions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebServices:
    """Two logins, the settings, the way to GitHub when there is one, and the check whether the schema fits."""

    app_database: Database
    reader_database: Database
    github: TokenMint | None
    settings: Settings
    secret_key: Secret
    schema_fit: Callable[[Connection], Awaitable[Fit]]
    work: WorkSignal


def services_of(request: Request) -> WebServices:
    """What the application of this request was given."""
    return cast(WebServices, request.app.state.services)
