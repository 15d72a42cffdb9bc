"""Reading repositories, pull requests and refs."""

from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

from .conftest import OWNER, Client

AMP = f"/repos/{OWNER}/amp"


async def test_a_repository_is_found_in_any_case(
    client: Client, github: StandIn, repository: Repository
) -> None:
    reply = await client.call("GET", f"/repos/{OWNER.upper()}/AMP")
    assert (reply.status, reply.body["id"], reply.body["full_name"]) == (200, repository.id, f"{OWNER}/amp")
    assert reply.body["clone_url"] == f"{github.web_url}/{OWNER}/amp.git"
    assert github.violations == []


async def test_pull_requests_are_listed_and_read_as_they_are(
    client: Client, github: StandIn, repository: Repository
) -> None:
    main = repository.refs["refs/heads/main"]
    change = github.commit_tree(repository, {"x": b"1"}, "Change", main)
    await github.open_pull_request(repository, head_commit=main, number=1)
    await github.open_pull_request(repository, head_commit=change, number=2, head_ref="topic")
    await github.close_pull_request(repository, 1)
    default = await client.call("GET", f"{AMP}/pulls")
    everything = await client.call("GET", f"{AMP}/pulls?state=all&per_page=1")
    by_head = await client.call("GET", f"{AMP}/pulls?state=all&head={OWNER}:topic")
    one = await client.call("GET", f"{AMP}/pulls/1")
    assert [pull["number"] for pull in default.body] == [2]
    assert [pull["number"] for pull in everything.body] == [2]
    assert 'rel="next"' in everything.headers["link"]
    assert "state=all" in everything.headers["link"]
    assert [pull["number"] for pull in by_head.body] == [2]
    assert (one.body["state"], one.body["head"]["sha"]) == ("closed", main)
    assert (await client.call("GET", f"{AMP}/pulls/3")).status == 404
    assert github.violations == []


async def test_a_ref_with_slashes_is_read(client: Client, github: StandIn, repository: Repository) -> None:
    main = repository.refs["refs/heads/main"]
    github.set_ref(repository, "refs/heads/feature/deep/er", main)
    found = await client.call("GET", f"{AMP}/git/ref/heads/feature/deep/er")
    encoded = await client.call("GET", f"{AMP}/git/ref/heads%2Fmain")
    gone = await client.call("GET", f"{AMP}/git/ref/heads/nothing")
    assert (found.status, found.body["object"]["sha"]) == (200, main)
    assert encoded.body["ref"] == "refs/heads/main"
    assert gone.status == 404
    assert github.violations == []


async def test_answers_carry_the_rate_limit(client: Client) -> None:
    reply = await client.call("GET", AMP)
    assert int(reply.headers["x-ratelimit-remaining"]) > 0
    assert int(reply.headers["x-ratelimit-reset"]) > client.clock().timestamp()
