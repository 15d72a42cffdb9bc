import pytest

from boardreadyops.config import Secret
from boardreadyops.domain.effects import ErrorClass
from boardreadyops.github.requests import (
    Answer,
    Failure,
    Request,
    classify_answer,
    create_check_run,
    get_pull,
    list_check_runs,
    request_headers,
)

GET = Request("GET", "/x")
POST = Request("POST", "/x", {})


def failure(
    status: int, *, request: Request = GET, headers: dict[str, str] | None = None, message: str = ""
) -> Failure:
    answer = classify_answer(request, status, headers or {}, {"message": message}, now_epoch_seconds=1_000.0)
    assert isinstance(answer, Failure)
    return answer


@pytest.mark.parametrize(
    ("status", "error_class"),
    [
        (401, "transient"), (403, "denied"), (404, "gone"), (410, "gone"), (422, "denied"), (429, "rate_limited"),
        (400, "denied"), (408, "transient"), (409, "transient"), (451, "denied"), (500, "transient"),
        (502, "transient"), (503, "transient"), (504, "transient"), (599, "transient"), (304, "denied"),
    ],
)  # fmt: skip
def test_each_status_of_a_read_has_its_class(status: int, error_class: ErrorClass) -> None:
    assert failure(status).error_class == error_class


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_mutation_that_a_gateway_lost_may_have_been_executed(status: int) -> None:
    assert failure(status, request=POST).error_class == "uncertain"
    assert failure(503, request=POST).error_class == "transient"


def test_a_missing_commit_is_gone_other_validation_errors_are_denied() -> None:
    assert failure(422, message="No commit found for SHA: abc").code == "no_such_commit"
    assert failure(422, message="Validation Failed").error_class == "denied"


@pytest.mark.parametrize(
    ("status", "headers", "message", "pause"),
    [
        (403, {"retry-after": "17", "x-ratelimit-remaining": "4000"}, "slow down", 17.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1300"}, "", 300.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "10"}, "", 1.0),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 12}, "", 7_200.0),
        (403, {}, "You have exceeded a secondary rate limit", 60.0),
        (429, {}, "", 60.0),
        (429, {"retry-after": "999999"}, "", 7_200.0),
        (429, {"retry-after": "soon"}, "", 60.0),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(
    status: int, headers: dict[str, str], message: str, pause: float
) -> None:
    seen = failure(status, headers=headers, message=message)
    assert (seen.error_class, seen.retry_after_seconds) == ("rate_limited", pause)


def test_a_bare_403_is_no_rate_limit_and_a_suspension_is_named() -> None:
    assert failure(403, headers={"x-ratelimit-remaining": "4999"}).code == "forbidden"
    assert failure(403, message="This installation has been suspended").code == "suspended"


def test_success_is_an_answer() -> None:
    assert classify_answer(POST, 201, {}, {"id": 1}, now_epoch_seconds=0.0) == Answer(201, {"id": 1})


@pytest.mark.parametrize(
    "body", [None, [], "text", {"message": 5}, {"errors": [None, "x", {"message": "y"}]}, {"errors": 3}]
)
def test_any_error_body_makes_one_bounded_line(body: object) -> None:
    seen = classify_answer(GET, 400, {}, body, now_epoch_seconds=0.0)
    assert isinstance(seen, Failure)
    assert seen.detail.isprintable()
    assert len(failure(400, message="x" * 10_000).detail) < 400


def test_names_stay_in_their_path_segment() -> None:
    assert create_check_run("a/b", "c?d", {}).path == "/repos/a%2Fb/c%3Fd/check-runs"
    listed = list_check_runs("o", "r", "f" * 40, check_name="A & B", app_id=7, page=2).path
    assert listed.startswith(
        f"/repos/o/r/commits/{'f' * 40}/check-runs?check_name=A+%26+B&filter=all&app_id=7"
    )
    for name in ("", ".", ".."):
        with pytest.raises(ValueError):
            get_pull("o", name, 1)


def test_every_request_pins_the_api_version_and_names_us() -> None:
    headers = request_headers(Secret("t"), bearer="installation")
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["accept"] == "application/vnd.github.v3+json"
    assert headers["user-agent"] == "BoardReadyOps"
    assert headers["authorization"] == "token t"
    assert request_headers(Secret("j"), bearer="app")["authorization"] == "bearer j"
