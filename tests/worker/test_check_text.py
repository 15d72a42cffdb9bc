from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boardreadyops.db.publications import PublicationDetails
from boardreadyops.worker.check_text import MAX_SUMMARY_BYTES, CheckText, check_text

RUN = UUID("12345678-1234-4234-8234-123456789abc")
CLEARANCE = {
    "rule": "clearance",
    "severity": "error",
    "message": "Clearance violation: 0.05 mm, rule 0.2 mm — pad 1 [VIN] of C1, track [GND] on F.Cu",
    "project": "power-board",
    "path": "power-board.kicad_pcb",
    "position": {"x_mm": 101.6, "y_mm": 73.66, "layer": "F.Cu"},
}
SILK = {"rule": "silk_overlap", "severity": "warning", "message": "Silkscreen overlap", "sheet": "/Power/"}
CHECKS = [
    {"name": "drc", "project": "power-board", "state": "failed"},
    {"name": "erc", "project": "power-board", "state": "passed"},
    {
        "name": "schematic_parity",
        "project": "power-board",
        "state": "not_run",
        "reason": "there is no schematic",
    },
]


def words(
    status: str = "completed",
    *,
    summary: str | None = None,
    errors: int = 1,
    details: Any = None,
    **payload: str,
) -> CheckText:
    given_details = {"findings": [CLEARANCE], "checks": CHECKS, "tool_versions": {"kicad-cli": "9.0.8"}}
    told = PublicationDetails(summary, errors, 0, given_details if details is None else details, "c" * 40)
    return check_text(RUN, {"status": status, **payload}, told, public_url="https://boards.example/")


def failing(**changes: Any) -> CheckText:
    return words(decision="fail", reason_code="runner_result_completed", **changes)


def test_a_failing_check_says_answer_why_next_step_findings_checks_tools_and_where_to_read_on() -> None:
    said = failing(summary="Not ready: 1 blocking finding\n- The board's own clearance rule is broken")
    assert said.title == "Not ready: 1 blocking finding"
    assert said.summary.splitlines() == [
        "**■ Not ready: 1 blocking finding**",
        "",
        "The board&#39;s own clearance rule is broken.",
        "",
        "**Next:** Fix the blocking findings and push; the new commit is checked by itself.",
        "",
        "### 1 finding",
        "",
        "|  | Finding | Where |",
        "| --- | --- | --- |",
        "| **blocks** | Clearance violation: 0.05 mm, rule 0.2 mm — pad 1 &#91;VIN&#93; of C1, track &#91;GND&#93; on"
        " F.Cu<br>`clearance` | 101.60, 73.66 mm on F.Cu<br>`power-board.kicad_pcb` |",
        "",
        "### Checks",
        "",
        "- DRC of power-board: did not pass",
        "- ERC of power-board: passed",
        "- Schematic parity of power-board: **did not run** (there is no schematic)",
        "",
        "Checked with kicad-cli 9.0.8.",
        "",
        f"[Everything about this run](https://boards.example/runs/{RUN})",
    ]


def test_what_blocks_comes_first_and_projects_are_named_when_there_are_several() -> None:
    details = {"findings": [SILK, CLEARANCE], "projects": [{"id": "a"}, {"id": "b"}]}
    rows = [line for line in failing(details=details).summary.splitlines() if line.startswith("| ")][2:]
    assert rows[0].startswith("| **blocks** |")
    assert "| power-board<br>101.60" in rows[0]
    assert rows[1].endswith("| sheet /Power/ |")


def test_a_failure_to_check_never_uses_the_words_of_a_board_failure() -> None:
    said = words(
        "failed",
        decision="error",
        reason_code="runner_result_failed",
        summary="kicad-cli is missing",
        details={},
    )
    assert said.title == "Could not check this board: the checks did not run to their end"
    assert "finding" not in said.summary
    assert "kicad-cli is missing" in said.summary


def test_a_superseded_run_links_its_successor() -> None:
    said = words("superseded", superseded_by="87654321-1234-4234-8234-123456789abc", details={})
    assert said.title == "Replaced by commit ccccccc"
    assert said.summary.endswith(
        "[The run that replaced it](https://boards.example/runs/87654321-1234-4234-8234-123456789abc)"
    )


def test_completed_at_is_utc_and_only_there_when_completed() -> None:
    done = failing(finished_at="2026-01-02T13:00:00+01:00", queued_at="2026-01-02T11:00:00+00:00")
    assert done.completed_at == datetime(2026, 1, 2, 12, tzinfo=UTC)
    assert words("running", finished_at="2026-01-02T13:00:00+01:00").completed_at is None


def test_a_timeout_tells_how_long_it_waited() -> None:
    said = words(
        "timed_out",
        reason_code="queue_deadline_exceeded",
        queued_at="2026-01-02T06:00:00+00:00",
        finished_at="2026-01-02T12:00:00+00:00",
        details={},
    )
    assert said.title.endswith("in time, 6 hours after it was queued")


@pytest.mark.parametrize("count", [51, 1_000, 5_000])
def test_any_number_of_findings_fits_and_says_how_many_more(count: int) -> None:
    wide = {**CLEARANCE, "message": "\U0001f50c" * 2_000}
    said = failing(details={"findings": [wide] * count, "checks": CHECKS, "truncated": True})
    assert len(said.summary.encode()) <= MAX_SUMMARY_BYTES
    shown = said.summary.count("**blocks**")
    assert 0 < shown <= 100
    assert f"{count - shown:,} more on the run page" in said.summary
    assert said.summary.endswith(f"/runs/{RUN})")


def test_many_checks_and_tools_stay_bounded() -> None:
    checks = [
        {"name": "x" * 5_000, "project": "|" * 5_000, "state": "not_run", "reason": "`" * 5_000}
    ] * 5_000
    details = {
        "checks": checks,
        "findings": [CLEARANCE] * 1_000,
        "tool_versions": {str(n): "<" * 999 for n in range(999)},
    }
    said = failing(details=details)
    assert len(said.summary.encode()) <= MAX_SUMMARY_BYTES


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
FINDING = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("rule", "severity", "message", "project", "path", "sheet", "position"), JSON),
)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "findings": st.lists(FINDING, max_size=5) | JSON,
        "checks": st.lists(
            st.fixed_dictionaries({}, optional=dict.fromkeys(("name", "state", "reason"), JSON))
        )
        | JSON,
        "tool_versions": JSON,
        "projects": JSON,
        "truncated": JSON,
    },
)


@given(DETAILS, st.none() | st.text())
def test_any_result_makes_a_bounded_text(details: dict[str, Any], summary: str | None) -> None:
    said = failing(details=details, summary=summary)
    assert len(said.summary.encode()) <= MAX_SUMMARY_BYTES
    assert said.summary.endswith(f"/runs/{RUN})")
