"""What the stand-in knows: accounts, installations, repositories, pull requests, check runs. Plain and mutable."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Clock = Callable[[], datetime]

APP_PERMISSIONS: Mapping[str, str] = {
    "actions": "write",
    "checks": "write",
    "contents": "read",
    "metadata": "read",
    "pull_requests": "read",
}
APP_EVENTS = ("check_run", "check_suite", "merge_group", "pull_request", "push")

# Real ids are wide: whoever stores one in 32 bits shall fail here, not at GitHub.
FIRST_CHECK_RUN_ID = 30_000_000_001
FIRST_PULL_REQUEST_ID = 2_200_000_001
FIRST_REPOSITORY_ID = 700_000_001
FIRST_INSTALLATION_ID = 50_000_001
FIRST_ACCOUNT_ID = 9_000_001


def iso(moment: datetime) -> str:
    """Return a moment as GitHub writes it: UTC, whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class Account:
    """A user or organisation."""

    id: int
    login: str
    type: Literal["User", "Organization"]


@dataclass(slots=True)
class Installation:
    """The App installed on an account. A removed one stays known, as not found."""

    id: int
    account: Account
    permissions: dict[str, str]
    created_at: datetime
    updated_at: datetime
    suspended_at: datetime | None = None
    removed: bool = False


@dataclass(slots=True)
class PullRequest:
    """A pull request; the SHAs are full commit SHAs of its repository."""

    id: int
    number: int
    title: str
    author: Account
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    created_at: datetime
    updated_at: datetime
    draft: bool = False
    state: Literal["open", "closed"] = "open"
    closed_at: datetime | None = None
    merged: bool = False


@dataclass(slots=True)
class Repository:
    """A repository: `refs` by full name (`refs/heads/main`), `commits` every commit SHA it holds."""

    id: int
    name: str
    owner: Account
    installation_id: int
    folder: Path
    private: bool
    default_branch: str
    created_at: datetime
    pushed_at: datetime
    refs: dict[str, str] = field(default_factory=dict)
    commits: set[str] = field(default_factory=set)
    pulls: dict[int, PullRequest] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """Return `owner/name`."""
        return f"{self.owner.login}/{self.name}"

    def resolve(self, ref: str) -> str | None:
        """Return the commit SHA of a SHA, full ref, `heads/…`/`tags/…`, branch or tag name; None if unknown."""
        if ref in self.commits:
            return ref
        names = (ref, f"refs/{ref}", f"refs/heads/{ref}", f"refs/tags/{ref}")
        return next((self.refs[name] for name in names if name in self.refs), None)


@dataclass(slots=True)
class CheckRun:
    """A check run; `history` holds each applied request with its arrival time."""

    id: int
    repository: Repository
    app_id: int
    head_sha: str
    name: str
    details_url: str
    started_at: str
    external_id: str = ""
    status: str = "queued"
    conclusion: str | None = None
    completed_at: str | None = None
    output: dict[str, str | None] = field(default_factory=dict)
    actions: list[dict[str, str]] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class World:
    """All of the state, and the numbers it hands out. `clock` returns aware datetimes."""

    app_id: int
    clock: Clock
    accounts: dict[str, Account] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    account_ids: Iterator[int] = field(default_factory=lambda: itertools.count(FIRST_ACCOUNT_ID))
    installation_ids: Iterator[int] = field(default_factory=lambda: itertools.count(FIRST_INSTALLATION_ID))
    repository_ids: Iterator[int] = field(default_factory=lambda: itertools.count(FIRST_REPOSITORY_ID))
    pull_request_ids: Iterator[int] = field(default_factory=lambda: itertools.count(FIRST_PULL_REQUEST_ID))
    check_run_ids: Iterator[int] = field(default_factory=lambda: itertools.count(FIRST_CHECK_RUN_ID))

    def account(self, login: str, kind: Literal["User", "Organization"]) -> Account:
        """Return the account of that login, made at first mention."""
        if login.lower() not in self.accounts:
            self.accounts[login.lower()] = Account(next(self.account_ids), login, kind)
        return self.accounts[login.lower()]

    def repository(self, owner: str, name: str) -> Repository | None:
        """Return a repository by its names, whatever their case, as GitHub does."""
        return self.repositories.get(f"{owner}/{name}".lower())

    def installation(self, installation_id: int) -> Installation | None:
        """Return an installation that has not been removed."""
        installation = self.installations.get(installation_id)
        return None if installation is None or installation.removed else installation

    def repositories_of(self, installation_id: int) -> list[Repository]:
        """Return the repositories of an installation, oldest first."""
        return [one for one in self.repositories.values() if one.installation_id == installation_id]
