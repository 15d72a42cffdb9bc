"""GitHub's description holds for requests, and for the stand-in's own answers."""

import json
from typing import Any

import pytest

from boardreadyops.standin import StandIn
from boardreadyops.standin.calls import Answer, Call
from boardreadyops.standin.cut_openapi import OPERATIONS, mended, references
from boardreadyops.standin.shapes import Shapes
from boardreadyops.standin.state import Repository
from boardreadyops.standin.validation import DESCRIPTION, answer_errors, described, request_errors

from .conftest import APP_ID, OWNER, SECRET, Client, HandClock, public_pem

RUN = "/repos/{owner}/{repo}/check-runs/{check_run_id}"


def asked(template: str, **params: str) -> Call:
    return Call("GET", "", template, {"owner": "o", "repo": "r", **params}, {}, {}, b"")


def githubs_own(name: str) -> Any:
    return described()["components"]["examples"][name]["value"]


def test_the_vendored_description_has_our_operations_and_whole_references() -> None:
    description = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    kept = {
        path: tuple(sorted(set(operations) - {"parameters"}))
        for path, operations in description["paths"].items()
    }
    assert kept == {path: tuple(sorted(methods)) for path, methods in OPERATIONS.items()}
    for reference in references(description):
        _, _, kind, name = reference.split("/")
        assert name in description["components"][kind]
    assert DESCRIPTION.stat().st_size < 450_000
    assert (DESCRIPTION.parent / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


def test_the_vendored_description_is_mended_already() -> None:
    description = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    assert mended(description) == description
    planted = {
        "nullable": True,
        "enum": ["a"],
        "inner": [{"nullable": True, "enum": ["b", None]}, {"enum": ["c"]}],
    }
    assert mended(planted)["enum"] == ["a", None]
    assert mended(planted)["inner"] == [{"nullable": True, "enum": ["b", None]}, {"enum": ["c"]}]


@pytest.mark.parametrize("name", ["check-run", "check-run-example-of-in-progress-conclusion"])
def test_githubs_own_examples_are_good(name: str) -> None:
    assert answer_errors(asked(RUN, check_run_id="4"), Answer(200, githubs_own(name))) == []


@pytest.mark.parametrize(
    "planted",
    [
        {"status": "odd"},
        {"conclusion": "odd"},
        {"id": "4"},
        {"output": None},
        {"started_at": "noon"},
        {"app": {}},
    ],
)
def test_a_spoilt_example_is_caught(planted: dict[str, Any]) -> None:
    spoilt = {**githubs_own("check-run"), **planted}
    assert answer_errors(asked(RUN, check_run_id="4"), Answer(200, spoilt)) != []


def test_an_undescribed_status_and_a_shapeless_error_are_caught() -> None:
    call = asked(RUN, check_run_id="4")
    assert answer_errors(call, Answer(202, githubs_own("check-run"))) != []
    assert answer_errors(call, Answer(403, {"error": "no"})) != []
    assert (
        answer_errors(call, Answer(403, {"message": "no", "documentation_url": "https://docs.github.com"}))
        == []
    )


def test_a_ref_with_slashes_is_one_parameter() -> None:
    assert request_errors(asked("/repos/{owner}/{repo}/git/ref/{ref}", ref="heads/a/b")) == []


async def test_a_wrong_answer_of_the_stand_in_itself_is_500_and_recorded(
    client: Client, github: StandIn, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Shapes.check_run
    monkeypatch.setattr(
        Shapes, "check_run", lambda self, check: real(self, check) | {"conclusion": "splendid"}
    )
    body = {"name": "x", "head_sha": repository.refs["refs/heads/main"]}
    reply = await client.call("POST", f"/repos/{OWNER}/amp/check-runs", body)
    assert reply.status == 500
    (violation,) = github.violations
    assert violation.kind == "answer"
    assert "splendid" in violation.problems[0]


async def test_a_field_that_github_promises_may_not_be_missing(
    client: Client, github: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Shapes.repository

    def poorer(self: Shapes, repository: Repository) -> dict[str, Any]:
        return {name: value for name, value in real(self, repository).items() if name != "default_branch"}

    monkeypatch.setattr(Shapes, "repository", poorer)
    assert (await client.call("GET", f"/repos/{OWNER}/amp")).status == 500
    assert [one.kind for one in github.violations] == ["answer"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nothing"),
        ("DELETE", f"/repos/{OWNER}/amp"),
        ("POST", f"/repos/{OWNER}/amp/issues"),
        ("GET", f"/repos/{OWNER}/amp/pulls/first"),
    ],
)
async def test_an_unknown_path_is_404_and_recorded(
    client: Client, github: StandIn, method: str, path: str
) -> None:
    assert (await client.call(method, path)).status == 404
    assert [(one.kind, one.method, one.path) for one in github.violations] == [("unknown_path", method, path)]


async def test_a_bad_query_and_a_broken_body_are_refused(
    client: Client, github: StandIn, repository: Repository
) -> None:
    sha = repository.refs["refs/heads/main"]
    query = await client.call("GET", f"/repos/{OWNER}/amp/commits/{sha}/check-runs?filter=odd")
    broken = await client.call("POST", f"/repos/{OWNER}/amp/check-runs", b"{not json")
    listing = await client.call("POST", f"/repos/{OWNER}/amp/check-runs", b"[]")
    empty = await client.call("POST", f"/repos/{OWNER}/amp/check-runs")
    large = await client.call("POST", f"/repos/{OWNER}/amp/check-runs", b" " * 5_000_001)
    assert [one.status for one in (query, broken, listing, empty, large)] == [422, 400, 400, 422, 413]
    assert {one.kind for one in github.violations} == {"request"}


async def test_a_stranger_is_turned_away_before_his_body_is_judged(client: Client, github: StandIn) -> None:
    reply = await client.call(
        "POST", f"/repos/{OWNER}/amp/check-runs", {"name": 5}, authorization="Bearer ghs_no"
    )
    assert reply.status == 401
    assert github.violations == []


async def test_validation_can_be_left_out(private_key: str, clock: HandClock) -> None:
    async with StandIn.serve(
        app_id=APP_ID,
        public_key_pem=public_pem(private_key),
        webhook_secret=SECRET,
        clock=clock,
        validate=False,
    ) as github:
        repository = github.create_repository(51_000_001, OWNER, "amp", commits=[({"a": b"b"}, "Start")])
        client = Client(github, private_key, clock)
        client.token = (await client.mint()).body["token"]
        body = {"name": "x", "head_sha": repository.refs["refs/heads/main"], "started_at": "noon"}
        assert (await client.call("POST", f"/repos/{OWNER}/amp/check-runs", body)).status == 201
        rule = {**body, "status": "completed"}
        assert (await client.call("POST", f"/repos/{OWNER}/amp/check-runs", rule)).status == 422
        assert github.violations == []
