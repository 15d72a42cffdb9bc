"""Who and what a run is about, as GitHub tells it: installations, repositories and observations of refs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TrustMode = Literal["trusted", "fork"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A pull request as one payload or one answer of GitHub shows it, at its own `updated_at` (UTC)."""

    installation_id: int
    repository_id: int
    ref: str
    pull_request_number: int
    open: bool
    draft: bool
    head_sha: str
    base_ref: str
    base_sha: str
    trust_mode: TrustMode
    observed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationState:
    """An installation as one of its own events shows it, at that event's time (UTC)."""

    installation_id: int
    account_login: str
    account_id: int | None
    suspended: bool
    removed: bool
    observed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """A repository as an event names it."""

    repository_id: int
    owner: str
    name: str
    private: bool
    default_branch: str | None
