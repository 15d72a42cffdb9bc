"""GitHub's JSON of each thing we hold: the vendored real payloads with our names, ids, URLs and times in them."""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from boardreadyops.standin.calls import Json
from boardreadyops.standin.state import (
    APP_EVENTS,
    APP_PERMISSIONS,
    Account,
    CheckRun,
    Installation,
    PullRequest,
    Repository,
    World,
    iso,
)

EXAMPLES = Path(__file__).parent / "vendored" / "webhooks"
EXAMPLE_API = "https://api.github.com"
EXAMPLE_WEB = "https://github.com"
EXAMPLE_PULL_NUMBER = 2

Shape = dict[str, Any]


@cache
def _example_text(name: str) -> str:
    return (EXAMPLES / f"{name}.json").read_text(encoding="utf-8")


def example(name: str) -> Shape:
    """Return a vendored payload, `<event>` or `<event>.<action>`, as a fresh copy."""
    shape: Shape = json.loads(_example_text(name))
    return shape


def rewritten(tree: Json, replacements: Sequence[tuple[str, str]]) -> Json:
    """Return a copy of the tree with the replacements, in order, made in every string."""
    if isinstance(tree, dict):
        return {key: rewritten(value, replacements) for key, value in tree.items()}
    if isinstance(tree, list):
        return [rewritten(value, replacements) for value in tree]
    if isinstance(tree, str):
        for old, new in replacements:
            tree = tree.replace(old, new)
    return tree


@dataclass(frozen=True, slots=True)
class Shapes:
    """Shapes for one stand-in; `origin` is its scheme, host and port."""

    world: World
    origin: str
    app_slug: str
    created_at: str

    def user(self, account: Account) -> Shape:
        """Return GitHub's simple user."""
        api, web = f"{self.origin}/users/{account.login}", f"{self.origin}/{account.login}"
        return {
            "login": account.login,
            "id": account.id,
            "node_id": f"U_{account.id}",
            "avatar_url": f"{self.origin}/avatars/{account.id}",
            "gravatar_id": "",
            "url": api,
            "html_url": web,
            "followers_url": f"{api}/followers",
            "following_url": f"{api}/following{{/other_user}}",
            "gists_url": f"{api}/gists{{/gist_id}}",
            "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
            "subscriptions_url": f"{api}/subscriptions",
            "organizations_url": f"{api}/orgs",
            "repos_url": f"{api}/repos",
            "events_url": f"{api}/events{{/privacy}}",
            "received_events_url": f"{api}/received_events",
            "type": account.type,
            "site_admin": False,
        }

    def app(self, app_id: int) -> Shape:
        """Return the App of that id: ours, or a stranger's (GitHub Actions is 15368)."""
        ours = app_id == self.world.app_id
        slug = self.app_slug if ours else f"another-app-{app_id}"
        return {
            "id": app_id,
            "slug": slug,
            "node_id": f"A_{app_id}",
            "owner": self.user(self.world.account("app-makers", "Organization")),
            "name": slug,
            "description": None,
            "external_url": f"{self.origin}/apps/{slug}/home",
            "html_url": f"{self.origin}/apps/{slug}",
            "created_at": self.created_at,
            "updated_at": self.created_at,
            "permissions": dict(APP_PERMISSIONS),
            "events": list(APP_EVENTS),
        }

    def installation(self, installation: Installation) -> Shape:
        """Return an installation."""
        suspended = installation.suspended_at
        return {
            "id": installation.id,
            "account": self.user(installation.account),
            "repository_selection": "all",
            "access_tokens_url": f"{self.origin}/app/installations/{installation.id}/access_tokens",
            "repositories_url": f"{self.origin}/installation/repositories",
            "html_url": f"{self.origin}/settings/installations/{installation.id}",
            "app_id": self.world.app_id,
            "app_slug": self.app_slug,
            "target_id": installation.account.id,
            "target_type": installation.account.type,
            "permissions": dict(installation.permissions),
            "events": list(APP_EVENTS),
            "created_at": iso(installation.created_at),
            "updated_at": iso(installation.updated_at),
            "single_file_name": None,
            "has_multiple_single_files": False,
            "single_file_paths": [],
            "suspended_by": None if suspended is None else self.user(installation.account),
            "suspended_at": None if suspended is None else iso(suspended),
        }

    def _urls(self, repository: Repository) -> list[tuple[str, str]]:
        full_name, host = repository.full_name, self.origin.split("://", 1)[1]
        theirs = example("pull_request.opened")["repository"]["full_name"]
        return [
            (f"{EXAMPLE_API}/repos/{theirs}", f"{self.origin}/repos/{full_name}"),
            (f"{EXAMPLE_WEB}/{theirs}", f"{self.origin}/{full_name}"),
            (f"git://github.com/{theirs}", f"git://{host}/{full_name}"),
            (f"git@github.com:{theirs}", f"git@{host}:{full_name}"),
        ]

    def repository(self, repository: Repository) -> Shape:
        """Return a repository as `GET /repos/{owner}/{repo}` does."""
        shape: Shape = rewritten(example("pull_request.opened")["repository"], self._urls(repository))
        open_pulls = sum(pull.state == "open" for pull in repository.pulls.values())
        return shape | {
            "id": repository.id,
            "node_id": f"R_{repository.id}",
            "name": repository.name,
            "full_name": repository.full_name,
            "owner": self.user(repository.owner),
            "private": repository.private,
            "visibility": "private" if repository.private else "public",
            "default_branch": repository.default_branch,
            "created_at": iso(repository.created_at),
            "updated_at": iso(repository.pushed_at),
            "pushed_at": iso(repository.pushed_at),
            "open_issues_count": open_pulls,
            "open_issues": open_pulls,
            "has_discussions": False,
            "allow_forking": True,
            "subscribers_count": 0,
            "network_count": 0,
        }

    def pull_request(self, repository: Repository, pull: PullRequest) -> Shape:
        """Return a pull request as `GET /repos/{owner}/{repo}/pulls/{pull_number}` does."""
        theirs = example("pull_request.opened")["pull_request"]
        replacements = [*self._urls(repository), (theirs["head"]["sha"], pull.head_sha)]
        replacements += [
            (
                f"{repository.full_name}/{kind}/{EXAMPLE_PULL_NUMBER}",
                f"{repository.full_name}/{kind}/{pull.number}",
            )
            for kind in ("pulls", "pull", "issues")
        ]
        shape: Shape = rewritten(theirs, replacements)
        own = self.repository(repository)
        author = self.user(pull.author)
        closed_at = None if pull.closed_at is None else iso(pull.closed_at)
        return shape | {
            "id": pull.id,
            "node_id": f"PR_{pull.id}",
            "number": pull.number,
            "state": pull.state,
            "title": pull.title,
            "body": None,
            "user": author,
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "labels": [],
            "draft": pull.draft,
            "merged": pull.merged,
            "merged_at": closed_at if pull.merged else None,
            "merged_by": author if pull.merged else None,
            "closed_at": closed_at,
            "created_at": iso(pull.created_at),
            "updated_at": iso(pull.updated_at),
            "head": self._side(repository, own, pull.head_ref, pull.head_sha),
            "base": self._side(repository, own, pull.base_ref, pull.base_sha),
        }

    def _side(self, repository: Repository, shape: Shape, ref: str, sha: str) -> Shape:
        owner = repository.owner
        return {
            "label": f"{owner.login}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.user(owner),
            "repo": copy.deepcopy(shape),
        }

    def check_run(self, check: CheckRun) -> Shape:
        """Return a check run, its annotations counted."""
        repository = check.repository
        url = f"{self.origin}/repos/{repository.full_name}/check-runs/{check.id}"
        pulls = [
            one for one in repository.pulls.values() if one.state == "open" and one.head_sha == check.head_sha
        ]
        return {
            "id": check.id,
            "node_id": f"CR_{check.id}",
            "name": check.name,
            "head_sha": check.head_sha,
            "external_id": check.external_id,
            "url": url,
            "html_url": f"{self.origin}/{repository.full_name}/runs/{check.id}",
            "details_url": check.details_url,
            "status": check.status,
            "conclusion": check.conclusion,
            "started_at": check.started_at,
            "completed_at": check.completed_at,
            "output": {
                "title": check.output.get("title"),
                "summary": check.output.get("summary"),
                "text": check.output.get("text"),
                "annotations_count": len(check.annotations),
                "annotations_url": f"{url}/annotations",
            },
            "check_suite": {"id": _suite_id(check)},
            "app": self.app(check.app_id),
            "pull_requests": [self._minimal(repository, pull) for pull in pulls],
        }

    def _minimal(self, repository: Repository, pull: PullRequest) -> Shape:
        url = f"{self.origin}/repos/{repository.full_name}"
        repo = {"id": repository.id, "url": url, "name": repository.name}
        return {
            "id": pull.id,
            "number": pull.number,
            "url": f"{url}/pulls/{pull.number}",
            "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": repo},
            "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": repo},
        }


def _suite_id(check: CheckRun) -> int:
    # GitHub keeps one suite for each App and commit: the same two always give the same number.
    return 40_000_000_000 + (int(check.head_sha[:8], 16) ^ check.app_id)
