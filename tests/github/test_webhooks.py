import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardreadyops.github.webhooks import (
    Delivery,
    Ignored,
    InstallationSeen,
    PullRequestSeen,
    Rejection,
    classify,
    receive,
)

SECRET = b"current secret"
PREVIOUS = b"previous secret"
SAMPLES = files("boardreadyops.standin").joinpath("vendored", "webhooks")


def sample(name: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(SAMPLES.joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return payload


def opened(**changes: object) -> dict[str, Any]:
    payload = sample("pull_request.opened")
    payload["installation"] = {"id": 51, "node_id": "x"}
    payload["pull_request"] |= changes
    return payload


def request(
    payload: object,
    event: str = "pull_request",
    *,
    secret: bytes = SECRET,
    changes: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], bytes]:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-GitHub-Event": event,
        "X-Hub-Signature-256": "sha256=" + hmac.digest(secret, body, "sha256").hex(),
        "Content-Type": "application/json",
    }
    return headers | dict(changes or {}), body


def received(
    payload: object, event: str = "pull_request", changes: Mapping[str, str] | None = None
) -> Delivery:
    delivery = receive(*request(payload, event, changes=changes), [SECRET])
    assert isinstance(delivery, Delivery)
    return delivery


def refusal(headers: Mapping[str, str], body: bytes, *secrets: bytes) -> tuple[int, str]:
    answer = receive(headers, body, secrets)
    assert isinstance(answer, Rejection)
    return answer.status, answer.code


@pytest.mark.parametrize("header", ["X-GitHub-Delivery", "X-GitHub-Event", "X-Hub-Signature-256"])
def test_a_missing_header_is_the_first_thing_refused(header: str) -> None:
    headers, body = request(b"not json", changes={"Content-Type": "text/plain"})
    del headers[header]
    assert refusal(headers, body) == (400, "missing_header")


@pytest.mark.parametrize("value", ["x" * 101, "a b", "a/b", "é", "a\nb"])
def test_a_delivery_id_is_bounded_and_plain(value: str) -> None:
    headers, body = request({}, changes={"X-GitHub-Delivery": value})
    assert refusal(headers, body, SECRET) == (400, "malformed_header")


def test_without_any_secret_nobody_is_believed() -> None:
    assert refusal(*request(opened())) == (503, "webhook_secret_missing")
    assert refusal(*request(opened(), secret=b""), b"") == (503, "webhook_secret_missing")


@pytest.mark.parametrize(
    "signature", ["sha256=" + "0" * 64, "sha1=abc", "sha256=", "é", "sha256=" + "g" * 64]
)
def test_a_wrong_signature_is_refused_before_anything_is_read(signature: str) -> None:
    headers, body = request(b"{", changes={"X-Hub-Signature-256": signature, "Content-Type": "text/plain"})
    assert refusal(headers, body, SECRET, PREVIOUS) == (401, "bad_signature")


def test_both_secrets_hold_during_a_rotation() -> None:
    for secret in (SECRET, PREVIOUS):
        assert isinstance(receive(*request(opened(), secret=secret), [SECRET, PREVIOUS]), Delivery)


def test_one_changed_byte_breaks_the_signature() -> None:
    headers, body = request(opened())
    assert refusal(headers, body + b" ", SECRET) == (401, "bad_signature")


@pytest.mark.parametrize("kind", ["", "text/plain", "application/xml", "multipart/form-data"])
def test_other_content_types_are_unsupported(kind: str) -> None:
    assert refusal(*request({}, changes={"Content-Type": kind}), SECRET) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"null", b"1", b"{", b'{"a":NaN}', b'{"a":Infinity}', b"\xff{}", b'{"a":"\xff"}',
        b"[" * 100_000, b'{"a":' * 100_000, b'{"a":' + b"9" * 5_000 + b"}",
    ],
)  # fmt: skip
def test_a_body_that_is_no_json_object_is_a_clear_400(body: bytes) -> None:
    status, code = refusal(*request(body), SECRET)
    assert (status, code) in ((400, "malformed_json"), (400, "malformed_body"))


@pytest.mark.parametrize(
    "body", [b"", b"payload=", b"payload=%7B", b"other=1", b"a&b", b"\xe9=1", b"x=1&" * 100]
)
def test_a_form_without_a_payload_is_a_400(body: bytes) -> None:
    headers, raw = request(body, changes={"Content-Type": "application/x-www-form-urlencoded"})
    assert refusal(headers, raw, SECRET)[0] == 400


def test_a_form_encoded_payload_says_the_same_as_json() -> None:
    form = urlencode({"payload": json.dumps(opened())}).encode()
    encoded = received(form, changes={"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"})
    assert classify(encoded) == classify(received(opened()))


def test_header_names_come_in_any_case() -> None:
    headers, body = request(opened())
    assert isinstance(
        receive({name.upper(): value for name, value in headers.items()}, body, [SECRET]), Delivery
    )


def test_a_delivery_carries_what_is_stored_of_it() -> None:
    delivery = received(opened())
    assert (delivery.event, delivery.action, delivery.installation_id) == ("pull_request", "opened", 51)
    assert len(delivery.body_sha256) == 32


def test_any_pull_request_action_is_an_observation() -> None:
    for action in ("opened", "labeled", "edited", "never_heard_of", None):
        seen = classify(received(opened() | {"action": action}))
        assert isinstance(seen, PullRequestSeen)
        observation = seen.observation
        assert observation.ref == f"refs/pull/{observation.pull_request_number}/head"
        assert observation.open
        assert observation.trust_mode == "trusted"
        assert observation.observed_at == datetime(2019, 5, 15, 15, 20, 33, tzinfo=UTC)
        assert observation.installation_id == 51
        assert seen.repository.repository_id == observation.repository_id


@pytest.mark.parametrize("repo", [None, {"id": 999}])
def test_a_head_in_another_or_a_deleted_repository_is_a_fork(repo: object) -> None:
    payload = opened()
    payload["pull_request"]["head"]["repo"] = repo
    seen = classify(received(payload))
    assert isinstance(seen, PullRequestSeen)
    assert seen.observation.trust_mode == "fork"


def test_nul_and_lone_surrogates_are_replaced_not_refused() -> None:
    payload = opened()
    payload["pull_request"]["base"]["ref"] = "ma\0in\ud800"
    payload["pull_request"]["title"] = "\ud800"
    seen = classify(received(payload))
    assert isinstance(seen, PullRequestSeen)
    assert seen.observation.base_ref == "ma\ufffdin\ufffd"


MALFORMED: list[tuple[str, object]] = [
    ("installation.id", "51"), ("installation.id", 0), ("installation.id", 2**63), ("installation.id", True),
    ("repository", []), ("repository.id", None), ("repository.name", "a/b"), ("repository.name", ".."),
    ("repository.owner.login", "a b"), ("repository.private", "yes"), ("pull_request", None),
    ("pull_request.number", 2**31), ("pull_request.number", -1), ("pull_request.number", 1.5),
    ("pull_request.state", "merged"), ("pull_request.draft", 1), ("pull_request.head.sha", "a" * 39),
    ("pull_request.head.sha", "A" * 40), ("pull_request.head.sha", "a" * 40 + "\n"), ("pull_request.head", None),
    ("pull_request.head.repo", "gone"), ("pull_request.base.ref", ""), ("pull_request.base.ref", "x" * 501),
    ("pull_request.base.sha", ["a"]), ("pull_request.updated_at", "yesterday"),
    ("pull_request.updated_at", "2019-05-15T15:20:33"), ("pull_request.updated_at", None),
    ("pull_request.updated_at", "0001-01-01T00:00:00+14:00"), ("pull_request.updated_at", 10**30),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value"), MALFORMED)
def test_a_malformed_field_is_named_and_not_quoted(path: str, value: object) -> None:
    payload = opened()
    *parents, last = path.split(".")
    place = payload
    for name in parents:
        place = place[name]
    place[last] = value
    answer = classify(received(payload))
    assert isinstance(answer, Rejection)
    assert (answer.status, answer.code) == (400, "malformed_payload")
    assert path in answer.detail
    assert repr(value) not in answer.detail


def test_installation_events_tell_state_time_and_at_first_repositories() -> None:
    for name, suspended, removed in (
        ("created", False, False), ("deleted", False, True), ("suspend", True, False), ("unsuspend", False, False),
    ):  # fmt: skip
        seen = classify(received(sample(f"installation.{name}"), "installation"))
        assert isinstance(seen, InstallationSeen)
        assert (seen.state.suspended, seen.state.removed) == (suspended, removed)
        assert seen.state.observed_at.utcoffset() == UTC.utcoffset(None)
        assert bool(seen.repositories) == (name == "created")


def test_an_enterprise_installation_is_known_by_its_slug() -> None:
    payload = sample("installation.created")
    payload["installation"]["account"] = {"id": 7, "slug": "big-boards"}
    seen = classify(received(payload, "installation"))
    assert isinstance(seen, InstallationSeen)
    assert seen.state.account_login == "big-boards"


@pytest.mark.parametrize(
    ("event", "payload", "reason"),
    [
        ("ping", {"zen": "x"}, "ping"),
        ("pull_request", {"action": "opened"}, "no_installation"),
        ("star", {"installation": {"id": 1}}, "unhandled_event"),
        ("installation", {"action": "renamed", "installation": {"id": 1}}, "unhandled_action"),
    ],
)
def test_everything_else_is_ignored_with_a_reason(event: str, payload: object, reason: str) -> None:
    assert classify(received(payload, event)) == Ignored(reason)


@pytest.mark.parametrize("action", ["x" * 1_000, 5, None, ["a"]])
def test_an_odd_action_is_bounded_or_none(action: object) -> None:
    delivery = received({"action": action}, "star")
    assert delivery.action is None or len(delivery.action) <= 64


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.binary(max_size=200), st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_garbage_is_refused_or_understood_but_never_a_crash(
    body: bytes, event: str, kind: str, name: str
) -> None:
    headers, raw = request(body, event, changes={"Content-Type": kind, "X-GitHub-Delivery": name})
    receive(headers, raw, [SECRET])
    headers, raw = request(body)
    receive(headers, raw, [SECRET])


@given(st.sampled_from([path for path, _ in MALFORMED]), JSON)
def test_any_json_in_any_place_is_understood_or_named(path: str, value: object) -> None:
    payload = opened()
    *parents, last = path.split(".")
    place = payload
    for name in parents:
        place = place[name]
    place[last] = value
    assert isinstance(classify(received(payload)), PullRequestSeen | Rejection | Ignored)
