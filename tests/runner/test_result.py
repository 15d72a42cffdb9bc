"""Result v1."""

from __future__ import annotations

import json
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardreadyops.runner.result import LEGAL_RESULTS, MAX_RESULT_BYTES, ResultV1
from boardreadyops.runner.wire import Refused, read_message


def document(**changes: Any) -> dict[str, Any]:
    ids = {name: str(uuid4()) for name in ("release_run_id", "execution_attempt_id", "retry_id")}
    return {"schema": 1, **ids, "status": "completed", "decision": "pass", "summary": "Ready.", **changes}


def finding(**changes: Any) -> dict[str, Any]:
    return {"rule": "clearance", "severity": "error", "message": "too near", "fingerprint": "f", **changes}


def read(**changes: Any) -> ResultV1 | Refused:
    return read_message(ResultV1, json.dumps(document(**changes)).encode())


def accepted(**changes: Any) -> ResultV1:
    result = read(**changes)
    assert isinstance(result, ResultV1), result
    return result


@pytest.mark.parametrize(
    ("status", "decision"), list(product(("completed", "failed", "timed_out"), ("pass", "fail", "error")))
)
def test_only_four_pairs_of_status_and_decision_are_legal(status: Any, decision: Any) -> None:
    legal = (status, decision) in LEGAL_RESULTS
    assert isinstance(read(status=status, decision=decision), ResultV1 if legal else Refused)
    assert len(LEGAL_RESULTS) == 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", 2),
        ("schema", "1"),
        ("summary", "x" * 4_001),
        ("findings", [finding()] * 1_001),
        ("findings", [finding(message="x" * 2_001)]),
        ("findings", [finding(severity="fatal")]),
        ("findings", [finding(line=0)]),
        ("findings", [finding(position={"x_mm": "1", "y_mm": 2, "layer": None})]),
        ("truncated", 1),
        ("checks", [{"name": "drc", "state": "skipped"}]),
        ("artifacts", [{"name": "a", "sha256": "x", "bytes": 1, "role": "report"}]),
        ("metrics", {"duration_seconds": "1"}),
        ("retry_id", "no uuid"),
    ],
)
def test_a_field_out_of_bounds_is_refused_by_name(field: str, value: Any) -> None:
    refused = read(**{field: value})
    assert isinstance(refused, Refused)
    assert refused.detail.startswith(field)


def test_the_largest_legal_texts_are_taken() -> None:
    assert len(accepted(summary="x" * 4_000, findings=[finding(message="x" * 2_000)]).summary) == 4_000


def test_a_finding_may_say_everything_or_little() -> None:
    place = {"x_mm": 1, "y_mm": 2.5, "layer": None}
    full = finding(project="p", path="p.kicad_pcb", line=3, sheet="/", position=place, item_uuids=["u"])
    result = accepted(findings=[full, finding()])
    assert result.details()["findings"] == [
        {**full, "position": {"x_mm": 1.0, "y_mm": 2.5}},
        finding(item_uuids=[]),
    ]


def test_errors_and_warnings_are_counted_from_the_findings() -> None:
    findings = [finding(), finding(severity="warning"), finding(severity="warning"), finding(severity="info")]
    result = accepted(findings=findings, metrics={"findings_error": 99})
    assert (result.error_count, result.warning_count) == (1, 2)


def test_a_truncated_list_is_counted_by_the_runner() -> None:
    result = accepted(
        findings=[finding()], truncated=True, metrics={"findings_error": 5_000, "findings_warning": -1}
    )
    assert (result.error_count, result.warning_count) == (5_000, 0)


def test_no_count_is_more_than_the_database_holds() -> None:
    assert accepted(truncated=True, metrics={"findings_error": 1e300}).error_count == 2**31 - 1


def test_details_are_what_the_database_keeps() -> None:
    assert set(accepted().details()) == {
        "projects", "findings", "truncated", "checks", "artifacts", "tool_versions", "metrics",
    }  # fmt: skip


def test_keys_are_cleaned_like_texts() -> None:
    assert accepted(metrics={"a\x00": 1}, tool_versions={"k\ud800": "9"}).details() | {} == {
        "projects": [], "findings": [], "truncated": False, "checks": [], "artifacts": [],
        "tool_versions": {"k\ufffd": "9"}, "metrics": {"a\ufffd": 1.0},
    }  # fmt: skip


def test_writing_and_reading_again_changes_nothing() -> None:
    result = accepted(findings=[finding(position={"x_mm": 1, "y_mm": 2})], metrics={"duration_seconds": 1.5})
    again = read_message(ResultV1, result.to_bytes())
    assert again == result
    assert json.loads(result.to_bytes())["schema"] == 1


@given(st.text(max_size=4_000), st.dictionaries(st.text(min_size=1, max_size=90), st.floats(allow_nan=False, allow_infinity=False)))  # fmt: skip
def test_whatever_a_text_holds_the_stored_one_is_utf8_without_nul(
    summary: str, metrics: dict[str, float]
) -> None:
    result = accepted(summary=summary, metrics=metrics)
    written = json.dumps([result.summary, result.details()], ensure_ascii=False)
    assert "\x00" not in written
    assert "\\u0000" not in written
    assert len(written.encode()) < MAX_RESULT_BYTES
