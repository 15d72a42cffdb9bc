"""How messages are read: strict, bounded, never an exception."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from boardreadyops.runner.protocol import (
    HeartbeatAnswer,
    HeartbeatRequest,
    LeaseRequest,
    Problem,
    RegistrationAnswer,
    RegistrationRequest,
    ResultV1,
    SourceTokenAnswer,
)
from boardreadyops.runner.wire import MAX_REFUSAL_CHARACTERS, Message, Refused, read_message

MODELS: tuple[type[Message], ...] = (
    HeartbeatRequest,
    LeaseRequest,
    RegistrationRequest,
    ResultV1,
    HeartbeatAnswer,
    Problem,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(MODELS), st.binary(max_size=400))
def test_any_bytes_give_a_message_or_a_refusal(model: type[Message], body: bytes) -> None:
    assert isinstance(read_message(model, body), (model, Refused))


@given(st.sampled_from(MODELS), st.dictionaries(st.sampled_from(
    ["stage", "progress", "message", "request_id", "capabilities", "wait_seconds", "enrollment_token", "name",
     "version", "schema", "status", "decision", "summary", "findings", "checks", "metrics", "tool_versions"]
), JSON))  # fmt: skip
def test_any_json_object_gives_a_message_or_a_short_refusal(
    model: type[Message], document: dict[str, object]
) -> None:
    read = read_message(model, json.dumps(document).encode())
    if isinstance(read, Refused):
        assert len(read.detail) <= MAX_REFUSAL_CHARACTERS
        assert read.detail.isprintable()
    else:
        assert isinstance(read, model)


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"[]", b'"x"', b"{", b'{"a":' * 50_000, b'{"progress": NaN}', b'{"progress": ' + b"9" * 5_000 + b"}"],
    ids=["empty", "not utf-8", "list", "text", "cut", "deep", "nan", "huge number"],
)  # fmt: skip
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    assert isinstance(read_message(HeartbeatRequest, body), Refused)


def test_a_refusal_names_the_field_and_repeats_nothing() -> None:
    read = read_message(
        RegistrationRequest, b'{"enrollment_token": "bre_se cret", "name": "n", "version": "1"}'
    )
    assert isinstance(read, Refused)
    assert read.detail.startswith("enrollment_token: ")
    assert "cret" not in read.detail


def test_a_validation_error_never_shows_the_token() -> None:
    with pytest.raises(ValidationError) as caught:
        RegistrationRequest.model_validate({"enrollment_token": "bre_se cret", "name": "n", "version": "1"})
    assert "cret" not in str(caught.value)


def test_nul_and_lone_surrogates_are_replaced() -> None:
    body = b'{"stage": "running", "message": "a\\u0000b\\ud800c"}'
    read = read_message(HeartbeatRequest, body)
    assert isinstance(read, HeartbeatRequest)
    assert read.message == "a\ufffdb\ufffdc"


def test_a_surrogate_pair_is_one_character_and_stays() -> None:
    read = read_message(HeartbeatRequest, b'{"stage": "running", "message": "\\ud83d\\ude00"}')
    assert isinstance(read, HeartbeatRequest)
    assert read.message == "😀"


def test_unknown_fields_are_ignored() -> None:
    assert read_message(HeartbeatRequest, b'{"stage": "running", "later": 1}') == HeartbeatRequest(
        stage="running"
    )


@pytest.mark.parametrize("progress", ['"5"', "5.5", "true", "-1", "101", "null"])
def test_progress_is_an_integer_from_0_to_100(progress: str) -> None:
    body = f'{{"stage": "running", "progress": {progress}}}'.encode()
    assert isinstance(read_message(HeartbeatRequest, body), Refused)


def test_a_heartbeat_says_at_most_500_characters() -> None:
    assert len(HeartbeatRequest(stage="running", message="x" * 500).message) == 500
    with pytest.raises(ValidationError):
        HeartbeatRequest(stage="running", message="x" * 501)


def test_a_claim_waits_at_most_30_seconds() -> None:
    assert LeaseRequest(request_id=uuid4(), wait_seconds=30).wait_seconds == 30
    with pytest.raises(ValidationError):
        LeaseRequest(request_id=uuid4(), wait_seconds=31)


def test_capabilities_are_names_with_or_without_a_value() -> None:
    declared = ["kicad=9.0.8", "arch=x86_64", "gpu"]
    assert LeaseRequest(request_id=uuid4(), capabilities=declared).capabilities == declared
    for wrong in ("", "=9", "KiCad=9", "kicad=9 0", "kicad=9\n", "x" * 64):
        with pytest.raises(ValidationError):
            LeaseRequest(request_id=uuid4(), capabilities=[wrong])


def test_tokens_are_on_the_wire_and_in_no_repr() -> None:
    body = f'{{"registration_id": "{uuid4()}", "token": "brr_secret"}}'.encode()
    read = read_message(RegistrationAnswer, body)
    assert isinstance(read, RegistrationAnswer)
    assert "brr_secret" not in repr(read)
    assert json.loads(read.to_bytes())["token"] == "brr_secret"


def test_a_time_without_a_zone_is_refused() -> None:
    assert isinstance(
        read_message(SourceTokenAnswer, b'{"token": "t", "expires_at": "2026-01-01T00:00:00"}'), Refused
    )
    assert isinstance(
        read_message(SourceTokenAnswer, b'{"token": "t", "expires_at": "2026-01-01T00:00:00Z"}'),
        SourceTokenAnswer,
    )
