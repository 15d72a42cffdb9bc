"""Webhooks: real shapes, our facts, good signatures, real HTTP."""

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from boardreadyops.standin import StandIn
from boardreadyops.standin.shapes import EXAMPLES, example
from boardreadyops.standin.state import Repository
from boardreadyops.standin.webhooks import Delivery

from .conftest import INSTALLATION_ID, OWNER, SECRET, HandClock, Receiver

REMAINS = (
    "Codertocat",
    "octocat",
    "Octocoders",
    "Hello-World",
    "github.com",
    "186853002",
    "279147437",
    "21031067",
)


@pytest.fixture
def wired(github: StandIn, receiver: Receiver) -> StandIn:
    github.webhook_url = receiver.url
    return github


async def all_acts(github: StandIn, repository: Repository) -> list[Delivery]:
    main = repository.refs["refs/heads/main"]
    first = github.commit_tree(repository, {"a": b"1"}, "One", main)
    second = github.commit_tree(repository, {"a": b"2"}, "Two", first)
    return [
        await github.ping(),
        await github.install(INSTALLATION_ID),
        await github.open_pull_request(repository, head_commit=first, number=12),
        await github.push_to_pull_request(repository, 12, head_commit=second),
        await github.close_pull_request(repository, 12),
        await github.reopen_pull_request(repository, 12),
        await github.suspend(INSTALLATION_ID),
        await github.unsuspend(INSTALLATION_ID),
        await github.uninstall(INSTALLATION_ID),
    ]


def shape(tree: Any, path: str = "$") -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield f"{path}.{key}"
            yield from shape(value, f"{path}.{key}")


async def test_every_act_is_delivered_signed(
    wired: StandIn, repository: Repository, receiver: Receiver
) -> None:
    deliveries = await all_acts(wired, repository)
    assert len(receiver.received) == len(deliveries) == 9
    for delivery, (headers, body) in zip(deliveries, receiver.received, strict=True):
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert headers["x-hub-signature-256"] == f"sha256={signature}"
        assert headers["x-github-event"] == delivery.event
        assert str(uuid.UUID(headers["x-github-delivery"])) == delivery.delivery_id
        assert headers["x-github-hook-id"].isdigit()
        assert headers["user-agent"].startswith("GitHub-Hookshot/")
        assert headers["content-type"] == "application/json"
        assert delivery.status == 202
        assert delivery.answer == {"status": "accepted", "delivery_id": delivery.delivery_id}
        assert delivery.failure is None
        assert json.loads(body) == delivery.payload


async def test_every_payload_has_the_shape_of_a_real_one_and_nothing_of_its_content(
    wired: StandIn, repository: Repository
) -> None:
    seen = set()
    for delivery in await all_acts(wired, repository):
        name = delivery.event if delivery.action is None else f"{delivery.event}.{delivery.action}"
        seen.add(name)
        missing = set(shape(example(name))) - set(shape(delivery.payload))
        foreign = set(shape(delivery.payload)) - set(shape(example(name)))
        # Where the example has somebody and we have nobody, or the other way round, the insides differ.
        nobody = ("suspended_by", "merged_by", "assignee", "permissions")
        assert [one for one in sorted(missing | foreign) if not any(word in one for word in nobody)] == []
        for remain in REMAINS:
            assert remain not in delivery.body.decode(), (name, remain)
    assert seen == {path.stem for path in EXAMPLES.glob("*.json")}


async def test_a_pull_request_payload_tells_our_facts_everywhere(
    wired: StandIn, repository: Repository, clock: HandClock
) -> None:
    main = repository.refs["refs/heads/main"]
    first = wired.commit_tree(repository, {"a": b"1"}, "One", main)
    second = wired.commit_tree(repository, {"a": b"2"}, "Two", first)
    opened = (await wired.open_pull_request(repository, head_commit=first, draft=True)).payload
    clock.move(90)
    pushed = (await wired.push_to_pull_request(repository, 1, head_commit=second)).payload
    clock.move(90)
    closed = (await wired.close_pull_request(repository, 1)).payload
    pull = pushed["pull_request"]
    assert opened["number"] == pull["number"] == 1
    assert (opened["pull_request"]["head"]["sha"], opened["pull_request"]["draft"]) == (first, True)
    assert (pushed["before"], pushed["after"], pull["head"]["sha"]) == (first, second, second)
    assert pull["base"]["sha"] == main
    assert pull["base"]["ref"] == "main"
    assert pull["created_at"] == "2026-03-01T12:00:00Z"
    assert pull["updated_at"] == "2026-03-01T12:01:30Z"
    assert pull["_links"]["statuses"]["href"].endswith(second)
    assert pull["_links"]["self"]["href"] == pull["url"] == f"{wired.api_url}/repos/{OWNER}/amp/pulls/1"
    assert (
        pull["head"]["repo"]["id"]
        == pull["base"]["repo"]["id"]
        == pushed["repository"]["id"]
        == repository.id
    )
    assert pushed["repository"]["full_name"] == f"{OWNER}/amp"
    assert pushed["repository"]["clone_url"] == f"{wired.web_url}/{OWNER}/amp.git"
    assert pushed["installation"]["id"] == INSTALLATION_ID
    assert (closed["pull_request"]["state"], closed["pull_request"]["merged"]) == ("closed", False)
    assert closed["pull_request"]["closed_at"] == "2026-03-01T12:03:00Z"


async def test_an_installation_payload_lists_its_repositories(wired: StandIn, repository: Repository) -> None:
    created = (await wired.install(INSTALLATION_ID)).payload
    suspended = (await wired.suspend(INSTALLATION_ID)).payload
    assert created["installation"]["id"] == INSTALLATION_ID
    assert created["installation"]["account"]["login"] == OWNER
    assert isinstance(created["installation"]["created_at"], int)
    assert [one["id"] for one in created["repositories"]] == [repository.id]
    assert suspended["installation"]["suspended_at"] == "2026-03-01T12:00:00Z"


async def test_a_ping_without_any_repository_names_none(wired: StandIn) -> None:
    delivery = await wired.ping()
    assert "repository" not in delivery.payload
    assert delivery.headers["X-GitHub-Hook-ID"] == str(delivery.payload["hook_id"])


async def test_a_redelivery_is_the_same_bytes_with_the_same_id(
    wired: StandIn, repository: Repository, receiver: Receiver
) -> None:
    delivery = await wired.ping()
    again = await wired.redeliver(delivery.delivery_id)
    (first_headers, first_body), (second_headers, second_body) = receiver.received
    assert first_body == second_body
    assert first_headers["x-github-delivery"] == second_headers["x-github-delivery"] == again.delivery_id
    assert first_headers["x-hub-signature-256"] == second_headers["x-hub-signature-256"]
    assert len(wired.deliveries) == 2
    with pytest.raises(KeyError):
        await wired.redeliver("unknown")


async def test_a_lost_delivery_changes_github_and_can_come_late(
    wired: StandIn, repository: Repository, receiver: Receiver
) -> None:
    head = repository.refs["refs/heads/main"]
    lost = await wired.open_pull_request(repository, head_commit=head, number=3, sending="lose")
    assert (lost.status, receiver.received) == (None, [])
    assert repository.refs["refs/pull/3/head"] == head
    late = await wired.redeliver(lost.delivery_id)
    assert (late.status, late.delivery_id) == (202, lost.delivery_id)


async def test_nobody_listening_is_a_failure_and_not_an_exception(
    github: StandIn, repository: Repository
) -> None:
    unset = await github.ping()
    github.webhook_url = "http://127.0.0.1:1/webhooks/github"
    refused = await github.ping()
    assert (unset.status, unset.failure) == (None, "no webhook URL is set")
    assert refused.status is None
    assert "refused" in (refused.failure or "").lower()


async def test_an_older_time_can_be_planted(wired: StandIn, repository: Repository, clock: HandClock) -> None:
    head = repository.refs["refs/heads/main"]
    await wired.open_pull_request(repository, head_commit=head, number=3)
    old = clock() - timedelta(hours=1)
    delivery = await wired.push_to_pull_request(repository, 3, head_commit=head, updated_at=old)
    assert delivery.payload["pull_request"]["updated_at"] == "2026-03-01T11:00:00Z"


async def test_a_head_that_the_repository_does_not_hold_is_refused(
    wired: StandIn, repository: Repository
) -> None:
    with pytest.raises(ValueError, match="has no commit"):
        await wired.open_pull_request(repository, head_commit="f" * 40)
    assert wired.deliveries == []
