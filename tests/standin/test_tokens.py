"""App JWTs and installation tokens: what opens the door and what does not."""

from typing import Any

import pytest

from boardreadyops.standin import StandIn
from boardreadyops.standin.state import Repository

from .conftest import APP_ID, INSTALLATION_ID, OWNER, Client, private_pem

REPOSITORY = f"/repos/{OWNER}/amp"


async def test_a_good_app_jwt_opens_the_app_and_its_installation(client: Client, github: StandIn) -> None:
    authorization = f"Bearer {client.app_jwt()}"
    app = await client.call("GET", "/app", authorization=authorization)
    installation = await client.call(
        "GET", f"/app/installations/{INSTALLATION_ID}", authorization=authorization
    )
    assert (app.status, app.body["id"]) == (200, APP_ID)
    assert (installation.status, installation.body["account"]["login"]) == (200, OWNER)
    assert github.violations == []


async def test_an_issuer_may_be_a_number_and_iat_may_be_a_minute_ahead(client: Client) -> None:
    now = int(client.clock().timestamp())
    reply = await client.call("GET", "/app", authorization=f"Bearer {client.app_jwt(iat=now + 60)}")
    assert reply.status == 200


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        ({"iss": "1"}, "iss"),
        ({"iss": None}, "iss"),
        ({"exp": None}, "exp"),
        ({"exp": 1_000}, "exp"),
        ({"exp": 9_999_999_999}, "too far"),
        ({"iat": None}, "iat"),
        ({"iat": 9_999_999_999}, "iat"),
    ],
)
async def test_a_jwt_with_a_bad_claim_is_refused(client: Client, claims: dict[str, Any], word: str) -> None:
    reply = await client.call("GET", "/app", authorization=f"Bearer {client.app_jwt(**claims)}")
    assert reply.status == 401
    assert word in reply.body["message"]
    assert "documentation_url" in reply.body


async def test_ten_minutes_ahead_is_the_most_a_jwt_may_live(client: Client) -> None:
    now = int(client.clock().timestamp())
    good = await client.call("GET", "/app", authorization=f"Bearer {client.app_jwt(exp=now + 600)}")
    bad = await client.call("GET", "/app", authorization=f"Bearer {client.app_jwt(exp=now + 601)}")
    assert (good.status, bad.status) == (200, 401)


async def test_a_jwt_of_another_key_or_algorithm_is_refused(client: Client) -> None:
    forged = [
        client.app_jwt(key=private_pem()),
        client.app_jwt(key="the public key as a shared secret, once a famous hole", algorithm="HS256"),
        "not.a.jwt",
        client.token or "",
    ]
    for token in forged:
        reply = await client.call("GET", "/app", authorization=f"Bearer {token}")
        assert reply.status == 401
    assert (await client.call("GET", "/app", authorization="")).status == 401


async def test_a_minted_token_lives_an_hour(client: Client) -> None:
    minted = await client.mint()
    assert minted.status == 201
    assert minted.body["token"].startswith("ghs_")
    assert minted.body["expires_at"] == "2026-03-01T13:00:00Z"
    assert (await client.call("GET", REPOSITORY)).status == 200
    client.clock.move(3_599)
    assert (await client.call("GET", REPOSITORY)).status == 200
    client.clock.move(1)
    late = await client.call("GET", REPOSITORY)
    assert (late.status, late.body["message"]) == (401, "Bad credentials")


async def test_unknown_revoked_and_missing_tokens_are_refused(client: Client, github: StandIn) -> None:
    unknown = await client.call("GET", REPOSITORY, authorization="Bearer ghs_nobody")
    missing = await client.call("GET", REPOSITORY, authorization="")
    jwt_instead = await client.call("GET", REPOSITORY, authorization=f"Bearer {client.app_jwt()}")
    github.revoke_tokens(INSTALLATION_ID)
    revoked = await client.call("GET", REPOSITORY)
    assert [one.status for one in (unknown, missing, jwt_instead, revoked)] == [401] * 4
    assert revoked.body["message"] == "Bad credentials"


async def test_the_scheme_token_works_as_bearer_does(client: Client) -> None:
    assert (await client.call("GET", REPOSITORY, authorization=f"token {client.token}")).status == 200


async def test_a_narrowed_token_reaches_only_its_repositories(client: Client, github: StandIn) -> None:
    other = github.create_repository(INSTALLATION_ID, OWNER, "other")
    minted = await client.mint({"repository_ids": [other.id]})
    client.token = minted.body["token"]
    assert minted.body["repository_selection"] == "selected"
    assert (await client.call("GET", f"/repos/{OWNER}/other")).status == 200
    assert (await client.call("GET", REPOSITORY)).status == 404


async def test_a_repository_of_another_installation_is_not_found(client: Client, github: StandIn) -> None:
    foreign = github.create_repository(77, "someone-else", "secret")
    assert (await client.call("GET", "/repos/someone-else/secret")).status == 404
    assert (await client.call("GET", "/repos/someone-else/nothing")).status == 404
    refused = await client.mint({"repository_ids": [foreign.id]})
    assert refused.status == 422


async def test_a_missing_permission_is_forbidden(client: Client, repository: Repository) -> None:
    client.token = (await client.mint({"permissions": {"contents": "read"}})).body["token"]
    sha = repository.refs["refs/heads/main"]
    created = await client.call("POST", f"{REPOSITORY}/check-runs", {"name": "x", "head_sha": sha})
    pulls = await client.call("GET", f"{REPOSITORY}/pulls")
    ref = await client.call("GET", f"{REPOSITORY}/git/ref/heads/main")
    assert (created.status, pulls.status, ref.status) == (403, 403, 200)
    assert created.body["message"] == "Resource not accessible by integration"


async def test_reading_does_not_let_write(client: Client, repository: Repository) -> None:
    client.token = (await client.mint({"permissions": {"checks": "read"}})).body["token"]
    sha = repository.refs["refs/heads/main"]
    assert (await client.call("GET", f"{REPOSITORY}/commits/{sha}/check-runs")).status == 200
    assert (
        await client.call("POST", f"{REPOSITORY}/check-runs", {"name": "x", "head_sha": sha})
    ).status == 403


async def test_more_than_the_installation_was_granted_is_refused(client: Client) -> None:
    assert (await client.mint({"permissions": {"contents": "write"}})).status == 422
    assert (await client.mint({"permissions": {"issues": "read"}})).status == 422


async def test_a_suspended_installation_is_forbidden_until_the_suspension_ends(
    client: Client, github: StandIn
) -> None:
    await github.suspend(INSTALLATION_ID)
    suspended = await client.call("GET", REPOSITORY)
    assert (suspended.status, (await client.mint()).status) == (403, 403)
    await github.unsuspend(INSTALLATION_ID)
    assert (await client.call("GET", REPOSITORY)).status == 200


async def test_an_unknown_or_removed_installation_is_not_found(client: Client, github: StandIn) -> None:
    assert (await client.mint(installation_id=1)).status == 404
    await github.uninstall(INSTALLATION_ID)
    assert (await client.mint()).status == 404
    assert (await client.call("GET", REPOSITORY)).status == 401
