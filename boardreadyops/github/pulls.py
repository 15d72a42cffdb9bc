"""A pull request as GitHub shows it, in a webhook or in an answer, read the same way."""

from __future__ import annotations

from typing import Literal

from boardreadyops.domain.identity import Observation, RepositoryFacts
from boardreadyops.github.fields import MAX_REF_CHARACTERS, Fields


def read_observation(pull: Fields, *, installation_id: int, repository_id: int) -> Observation:
    """The pull request at its own `updated_at` (UTC); MalformedField.

    A head repository that is gone or another one makes it a fork: nobody vouches for its files.
    """
    number = pull.number()
    head, base = pull.within("head"), pull.within("base")
    trust_mode: Literal["trusted", "fork"] = "fork"
    if "repo" in head and head.within("repo").id() == repository_id:
        trust_mode = "trusted"
    return Observation(
        installation_id=installation_id,
        repository_id=repository_id,
        ref=f"refs/pull/{number}/head",
        pull_request_number=number,
        open=pull.choice("state", "open", "closed") == "open",
        draft=pull.flag("draft", absent=False),
        head_sha=head.sha(),
        base_ref=base.text("ref", limit_characters=MAX_REF_CHARACTERS),
        base_sha=base.sha(),
        trust_mode=trust_mode,
        observed_at=pull.moment("updated_at"),
    )


def read_repository(repository: Fields) -> RepositoryFacts:
    """The `repository` of an event; MalformedField."""
    default_branch = None
    if "default_branch" in repository:
        default_branch = repository.text("default_branch", limit_characters=MAX_REF_CHARACTERS)
    return RepositoryFacts(
        repository_id=repository.id(),
        owner=repository.within("owner").login(),
        name=repository.repository_name(),
        private=repository.flag("private", absent=True),
        default_branch=default_branch,
    )


def read_listed_repository(repository: Fields, *, owner: str) -> RepositoryFacts:
    """An item of an installation event's `repositories`, which names no owner; MalformedField."""
    return RepositoryFacts(
        repository_id=repository.id(),
        owner=owner,
        name=repository.repository_name(),
        private=repository.flag("private", absent=True),
        default_branch=None,
    )
