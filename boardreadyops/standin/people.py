"""What people do on GitHub: each act changes the stand-in's state and delivers the webhook that GitHub would send."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, assert_never

from boardreadyops.standin import git_store
from boardreadyops.standin.app import Front
from boardreadyops.standin.git_store import Tree
from boardreadyops.standin.shapes import Shape
from boardreadyops.standin.state import APP_PERMISSIONS, Account, Installation, PullRequest, Repository
from boardreadyops.standin.webhooks import Delivery, Payloads, Webhooks

DEFAULT_ACCOUNT = "acme-boards"
DEFAULT_PERSON = "board-designer"
RESERVED_OWNERS = ("app", "apps", "avatars", "installation", "repos", "settings", "users")

Sending = Literal["send", "lose"]


class People:
    """The person's side of the stand-in.

    `sending="lose"` keeps a delivery back, and `redeliver` can send it later. `updated_at` of a pull request is the
    clock's unless given.
    """

    def __init__(self, front: Front, webhooks: Webhooks, folder: Path) -> None:
        """Act on the state behind `front`; repositories are kept in `folder`."""
        self._front = front
        self._world = front.world
        self._payloads = Payloads(front.shapes)
        self._webhooks = webhooks
        self._folder = folder
        self._person = self._world.account(DEFAULT_PERSON, "User")

    def create_repository(
        self,
        installation_id: int,
        owner: str,
        name: str,
        *,
        commits: Sequence[tuple[Tree, str]] = (),
        private: bool = False,
    ) -> Repository:
        """Create a repository in an installation with (tree, message) commits on `main`; no webhook.

        The installation is made too if nobody knows it yet; `install` is what tells of it.
        """
        if owner.lower() in RESERVED_OWNERS or self._world.repository(owner, name) is not None:
            raise ValueError(f"{owner}/{name} is taken")
        account = self._world.account(owner, "Organization")
        self._know_installation(installation_id, account)
        now = self._world.clock()
        identity = next(self._world.repository_ids)
        folder = self._folder / f"{identity}.git"
        repository = Repository(identity, name, account, installation_id, folder, private, "main", now, now)
        git_store.create_bare(folder)
        self._world.repositories[repository.full_name.lower()] = repository
        parent = None
        for tree, message in commits:
            parent = self.commit_tree(repository, tree, message, parent)
        if parent is not None:
            self.set_ref(repository, "refs/heads/main", parent)
        return repository

    def commit_tree(self, repository: Repository, tree: Tree, message: str, parent: str | None = None) -> str:
        """Store a commit of exactly these files and return its SHA, the same on every machine; no ref moves."""
        sha = git_store.commit_tree(repository.folder, tree, message, parent)
        repository.commits.add(sha)
        return sha

    def set_ref(self, repository: Repository, ref: str, sha: str) -> None:
        """Point a full ref name at a commit, by force; no webhook. Idempotent."""
        git_store.set_ref(repository.folder, ref, sha)
        repository.refs[ref] = sha
        repository.pushed_at = self._world.clock()

    async def open_pull_request(
        self,
        repository: Repository,
        *,
        head_commit: str,
        number: int | None = None,
        title: str = "Change the board",
        head_ref: str | None = None,
        draft: bool = False,
        updated_at: datetime | None = None,
        sending: Sending = "send",
    ) -> Delivery:
        """Open a pull request to `main`; the delivery's payload names its number."""
        chosen = max(repository.pulls, default=0) + 1 if number is None else number
        if chosen in repository.pulls:
            raise ValueError(f"pull request {chosen} exists")
        now = updated_at or self._world.clock()
        base = repository.refs[f"refs/heads/{repository.default_branch}"]
        branch = head_ref or f"change-{chosen}"
        pull = PullRequest(
            id=next(self._world.pull_request_ids), number=chosen, title=title, author=self._person, head_ref=branch,
            head_sha=head_commit, base_ref=repository.default_branch, base_sha=base, created_at=now, updated_at=now,
            draft=draft,
        )  # fmt: skip
        self._move_head(repository, pull, head_commit)
        repository.pulls[chosen] = pull
        return await self._tell("opened", repository, pull, sending)

    async def push_to_pull_request(
        self,
        repository: Repository,
        number: int,
        *,
        head_commit: str,
        updated_at: datetime | None = None,
        sending: Sending = "send",
    ) -> Delivery:
        """Move the head of a pull request, by force if need be."""
        pull = repository.pulls[number]
        before = pull.head_sha
        self._move_head(repository, pull, head_commit)
        pull.updated_at = updated_at or self._world.clock()
        return await self._tell("synchronize", repository, pull, sending, before)

    async def close_pull_request(
        self,
        repository: Repository,
        number: int,
        *,
        updated_at: datetime | None = None,
        sending: Sending = "send",
    ) -> Delivery:
        """Close a pull request without merging it."""
        pull = repository.pulls[number]
        pull.state, pull.updated_at = "closed", updated_at or self._world.clock()
        pull.closed_at = pull.updated_at
        return await self._tell("closed", repository, pull, sending)

    async def reopen_pull_request(
        self,
        repository: Repository,
        number: int,
        *,
        updated_at: datetime | None = None,
        sending: Sending = "send",
    ) -> Delivery:
        """Open a closed pull request again."""
        pull = repository.pulls[number]
        pull.state, pull.updated_at, pull.closed_at = "open", updated_at or self._world.clock(), None
        return await self._tell("reopened", repository, pull, sending)

    async def install(
        self, installation_id: int, *, owner: str | None = None, sending: Sending = "send"
    ) -> Delivery:
        """Install the App, again if need be, and tell of it with the repositories it has.

        Without an `owner` it is the known installation's own, else `DEFAULT_ACCOUNT`.
        """
        known = self._world.installations.get(installation_id)
        login = owner or (DEFAULT_ACCOUNT if known is None else known.account.login)
        installation = self._know_installation(installation_id, self._world.account(login, "Organization"))
        installation.removed, installation.suspended_at = False, None
        return await self._tell_installation("created", installation, sending)

    async def uninstall(self, installation_id: int, *, sending: Sending = "send") -> Delivery:
        """Remove the App; its tokens die."""
        installation = self._world.installations[installation_id]
        installation.removed = True
        self.revoke_tokens(installation_id)
        return await self._tell_installation("deleted", installation, sending)

    async def suspend(self, installation_id: int, *, sending: Sending = "send") -> Delivery:
        """Suspend the App: its calls are refused from now on."""
        installation = self._world.installations[installation_id]
        installation.suspended_at = self._world.clock()
        return await self._tell_installation("suspend", installation, sending)

    async def unsuspend(self, installation_id: int, *, sending: Sending = "send") -> Delivery:
        """End a suspension."""
        installation = self._world.installations[installation_id]
        installation.suspended_at = None
        return await self._tell_installation("unsuspend", installation, sending)

    async def ping(self, *, sending: Sending = "send") -> Delivery:
        """Send GitHub's ping."""
        repository = next(iter(self._world.repositories.values()), None)
        payload = self._payloads.ping(repository, self._person, self._webhooks.url or "")
        return await self._send("ping", payload, sending)

    async def redeliver(self, delivery_id: str) -> Delivery:
        """Send the same bytes with the same delivery id again; KeyError for an unknown id."""
        return await self._webhooks.redeliver(delivery_id)

    def revoke_tokens(self, installation_id: int) -> None:
        """Make the living tokens of an installation worthless. Idempotent."""
        self._front.tokens.revoke(installation_id)

    def foreign_check_run(self, repository: Repository, app_id: int, body: dict[str, Any]) -> int:
        """Create a check run as another App would, and return its id; ValueError if GitHub refuses the body."""
        answer = self._front.checks.create(repository, body, app_id)
        if answer.status != 201:
            raise ValueError(answer.body)
        identity: int = answer.body["id"]
        return identity

    def _know_installation(self, installation_id: int, account: Account) -> Installation:
        now = self._world.clock()
        known = self._world.installations.setdefault(
            installation_id, Installation(installation_id, account, dict(APP_PERMISSIONS), now, now)
        )
        if known.account is not account:
            raise ValueError(f"installation {installation_id} belongs to {known.account.login}")
        return known

    def _move_head(self, repository: Repository, pull: PullRequest, sha: str) -> None:
        if sha not in repository.commits:
            raise ValueError(f"{repository.full_name} has no commit {sha}")
        self.set_ref(repository, f"refs/heads/{pull.head_ref}", sha)
        self.set_ref(repository, f"refs/pull/{pull.number}/head", sha)
        pull.head_sha = sha

    async def _tell(
        self,
        action: str,
        repository: Repository,
        pull: PullRequest,
        sending: Sending,
        before: str | None = None,
    ) -> Delivery:
        payload = self._payloads.pull_request(action, repository, pull, self._person, before)
        return await self._send("pull_request", payload, sending)

    async def _tell_installation(self, action: str, installation: Installation, sending: Sending) -> Delivery:
        installation.updated_at = self._world.clock()
        repositories = self._world.repositories_of(installation.id)
        payload = self._payloads.installation(action, installation, repositories, self._person)
        return await self._send("installation", payload, sending)

    async def _send(self, event: str, payload: Shape, sending: Sending) -> Delivery:
        match sending:
            case "send":
                return await self._webhooks.deliver(event, payload)
            case "lose":
                return self._webhooks.lose(event, payload)
            case _ as never:
                assert_never(never)
