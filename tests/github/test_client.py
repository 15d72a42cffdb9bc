import asyncio
import socket

import pytest

from boardreadyops.config import Secret
from boardreadyops.github.client import GitHubClient, Token
from boardreadyops.github.requests import Answer, Failure, Request, create_check_run, get_pull
from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository
from tests.github.conftest import APP_ID, INSTALLATION_ID, HandClock

PULLS = "/repos/acme-boards/amp/pulls/*"
CHECKS = "/repos/acme-boards/amp/check-runs"
TOKENS = "/app/installations/*/access_tokens"
PULL = get_pull("acme-boards", "amp", 1)


def creation(repository: Repository) -> Request:
    head = repository.refs["refs/heads/main"]
    return create_check_run(
        "acme-boards", "amp", {"name": "BoardReadyOps", "head_sha": head, "status": "queued"}
    )


@pytest.fixture
async def pull(github: StandIn, repository: Repository) -> None:
    await github.open_pull_request(repository, head_commit=repository.refs["refs/heads/main"], sending="lose")


def minted(github: StandIn) -> int:
    return sum(one.path.endswith("/access_tokens") for one in github.served)


async def failed(client: GitHubClient, request: Request = PULL) -> Failure:
    answer = await client.request(INSTALLATION_ID, request)
    assert isinstance(answer, Failure)
    return answer


@pytest.mark.usefixtures("pull")
async def test_a_pull_request_is_read_with_a_token_minted_on_demand(client: GitHubClient) -> None:
    answer = await client.request(INSTALLATION_ID, PULL)
    assert isinstance(answer, Answer)
    assert isinstance(answer.body, dict)
    assert answer.body["number"] == 1


@pytest.mark.usefixtures("pull")
async def test_many_requests_at_once_mint_one_token(client: GitHubClient, github: StandIn) -> None:
    await asyncio.gather(*(client.request(INSTALLATION_ID, PULL) for _ in range(10)))
    assert minted(github) == 1


@pytest.mark.usefixtures("pull")
async def test_a_token_is_replaced_five_minutes_before_its_end(
    client: GitHubClient, github: StandIn, clock: HandClock
) -> None:
    await client.request(INSTALLATION_ID, PULL)
    clock.move(3_299)
    await client.request(INSTALLATION_ID, PULL)
    assert minted(github) == 1
    clock.move(1)
    await client.request(INSTALLATION_ID, PULL)
    assert minted(github) == 2


@pytest.mark.usefixtures("pull")
async def test_a_401_in_mid_flight_mints_once_more(client: GitHubClient, github: StandIn) -> None:
    await client.request(INSTALLATION_ID, PULL)
    github.revoke_tokens(INSTALLATION_ID)
    assert isinstance(await client.request(INSTALLATION_ID, PULL), Answer)
    assert minted(github) == 2


@pytest.mark.usefixtures("repository")
async def test_a_second_401_is_left_for_later(client: GitHubClient, github: StandIn) -> None:
    github.faults.answer("GET", PULLS, status=401, count=2)
    seen = await failed(client)
    assert (seen.error_class, seen.code, minted(github)) == ("transient", "unauthorized", 2)


@pytest.mark.usefixtures("repository")
async def test_a_restricted_token_is_never_shared(
    client: GitHubClient, github: StandIn, repository: Repository
) -> None:
    one = await client.installation_token(
        INSTALLATION_ID, repository_ids=[repository.id], permissions={"contents": "read"}
    )
    two = await client.installation_token(
        INSTALLATION_ID, repository_ids=[repository.id], permissions={"contents": "read"}
    )
    assert isinstance(one, Token)
    assert isinstance(two, Token)
    assert one.secret != two.secret
    assert one.secret.reveal() not in repr(one)
    assert minted(github) == 2


async def test_an_unknown_installation_is_gone_and_a_suspended_one_denied(
    client: GitHubClient, github: StandIn, repository: Repository
) -> None:
    seen = await client.installation_token(99)
    assert isinstance(seen, Failure)
    assert (seen.error_class, seen.code) == ("gone", "installation_gone")
    await github.suspend(repository.installation_id, sending="lose")
    assert (await failed(client)).code == "suspended"


@pytest.mark.usefixtures("repository")
async def test_a_wrong_key_or_clock_is_denied_not_gone(client: GitHubClient, github: StandIn) -> None:
    github.faults.answer("POST", TOKENS, status=401)
    seen = await failed(client)
    assert (seen.error_class, seen.code) == ("denied", "app_unauthorized")


@pytest.mark.usefixtures("repository")
async def test_an_unanswered_mint_is_simply_made_again(client: GitHubClient, github: StandIn) -> None:
    github.faults.drop("POST", TOKENS)
    assert (await failed(client)).error_class == "transient"


async def test_an_answer_lost_after_a_mutation_is_uncertain(
    client: GitHubClient, github: StandIn, repository: Repository
) -> None:
    github.faults.drop("POST", CHECKS)
    assert (await failed(client, creation(repository))).error_class == "uncertain"
    assert len(github.check_runs) == 1


@pytest.mark.usefixtures("pull")
async def test_an_answer_lost_after_a_read_is_transient(client: GitHubClient, github: StandIn) -> None:
    github.faults.drop("GET", PULLS)
    assert (await failed(client)).error_class == "transient"


async def test_a_hung_request_ends_at_its_deadline(
    github: StandIn, repository: Repository, private_key: Secret, clock: HandClock
) -> None:
    client = GitHubClient(github.api_url, APP_ID, private_key, 0.5, clock)
    await client.installation_token(INSTALLATION_ID)
    github.faults.hold("POST", CHECKS)
    seen = await failed(client, creation(repository))
    assert (seen.error_class, seen.code) == ("uncertain", "timeout")
    github.faults.clear()
    await client.aclose()


async def test_nobody_listening_is_transient_also_for_a_mutation(
    private_key: Secret, clock: HandClock, github: StandIn, repository: Repository
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        client = GitHubClient(f"http://127.0.0.1:{free.getsockname()[1]}", APP_ID, private_key, 5.0, clock)
        seen = await failed(client, creation(repository))
    assert (seen.error_class, seen.code) == ("transient", "connection_failed")
    await client.aclose()


@pytest.mark.usefixtures("pull")
async def test_a_renamed_repository_is_followed_on_the_same_host(
    client: GitHubClient, github: StandIn
) -> None:
    github.faults.answer(
        "GET", PULLS, status=301, headers={"location": "/repos/acme-boards/amp/pulls/1?again"}
    )
    assert isinstance(await client.request(INSTALLATION_ID, PULL), Answer)


@pytest.mark.parametrize("location", ["https://evil.example/x", "//evil.example/x", "http://[", "", "ftp:/x"])
@pytest.mark.usefixtures("repository")
async def test_a_redirect_to_another_host_is_refused(
    client: GitHubClient, github: StandIn, location: str
) -> None:
    github.faults.answer("GET", PULLS, status=302, headers={"location": location})
    assert (await failed(client)).code == "redirected_away"


@pytest.mark.usefixtures("repository")
async def test_redirects_in_a_circle_end(client: GitHubClient, github: StandIn) -> None:
    github.faults.answer(
        "GET", PULLS, status=307, headers={"location": "/repos/acme-boards/amp/pulls/1"}, count=9
    )
    assert (await failed(client)).code == "too_many_redirects"


@pytest.mark.usefixtures("repository")
async def test_an_answer_too_large_to_read_is_refused(client: GitHubClient, github: StandIn) -> None:
    github.faults.answer("GET", PULLS, status=200, body={"x": "y" * (17 * 1024 * 1024)})
    assert (await failed(client)).code == "answer_too_large"


async def test_nothing_secret_is_shown(client: GitHubClient, private_key: Secret) -> None:
    assert repr(client) == "GitHubClient(app_id=4242)"
    seen = await client.installation_token(99)
    assert "PRIVATE" not in repr(seen)
