from itertools import product

import pytest

from boardreadyops.checks.policy import decide
from boardreadyops.checks.report import (
    DOCUMENT_LIMIT_BYTES,
    SUMMARY_LIMIT_CHARACTERS,
    BoardReport,
    CheckedState,
    CheckState,
)
from boardreadyops.kicad.findings import Finding, Severity
from boardreadyops.kicad.outcome import CouldNotReason

STATES: tuple[CheckedState, ...] = ("passed", "failed", "not_run", "could_not_run")
LEGAL = {("completed", "pass"), ("completed", "fail"), ("failed", "error"), ("timed_out", "error")}


def finding(severity: Severity = "error", message: str = "Words") -> Finding:
    return Finding("drc", "clearance", severity, message, "f", "p", "p.kicad_pcb")


def check(state: CheckedState, could_not: CouldNotReason | None = None) -> CheckState:
    return CheckState("drc", state, "p", "why" if "run" in state else None, could_not)


@pytest.mark.parametrize("states", list(product(STATES, repeat=2)))
@pytest.mark.parametrize("severity", ["error", "warning", "info", None])
def test_the_pair_is_legal_and_nothing_unchecked_passes(
    states: tuple[CheckedState, ...], severity: Severity | None
) -> None:
    findings = [finding(severity)] if severity else []
    verdict = decide(findings, [check(state) for state in states])
    assert (verdict.status, verdict.decision) in LEGAL
    if severity == "error":
        assert verdict.decision == "fail"
    elif "could_not_run" in states or set(states) == {"not_run"}:
        assert verdict.decision == "error"
    else:
        assert verdict.decision == "pass"


def test_no_check_at_all_is_not_a_pass() -> None:
    assert decide([], []).decision == "error"


def test_a_deadline_is_told_apart_from_other_failures() -> None:
    checks = [check("passed"), check("could_not_run", CouldNotReason.TIMED_OUT)]
    assert decide([], checks).status == "timed_out"


def test_violations_are_counted_only_for_checks_that_ran() -> None:
    checks = [check("passed"), CheckState("erc", "not_run", "p", "the project has no schematic")]
    summary = decide([], checks).summary
    assert "DRC of p: 0 errors, 0 warnings" in summary
    assert "ERC of p: not run: the project has no schematic" in summary
    assert summary.count("0 errors") == 1


def test_a_blocking_finding_stands_beside_a_check_that_could_not_run() -> None:
    checks = [check("failed"), CheckState("erc", "could_not_run", "p", "kicad-cli was killed")]
    verdict = decide([finding(message="Clearance violation: 0.1 mm")], checks)
    assert verdict.decision == "fail"
    assert verdict.summary.startswith("Not ready: 1 blocking finding\n- Clearance violation: 0.1 mm")
    assert "ERC of p: could not run: kicad-cli was killed" in verdict.summary


def test_warnings_are_counted_in_the_headline() -> None:
    assert decide([finding("warning")], [check("passed")]).summary.startswith(
        "Ready to fabricate with 1 warning\n"
    )


def test_a_summary_is_bounded() -> None:
    checks = [check("passed")] * 1_000
    assert len(decide([finding(message="x" * 2_000)] * 5, checks).summary) <= SUMMARY_LIMIT_CHARACTERS


def test_a_result_fits_even_with_a_thousand_long_findings() -> None:
    findings = (finding(message="ü" * 2_000),) * 1_000
    report = BoardReport("completed", "fail", "s", (), findings, False, (), {}, {})
    document = report.to_json()
    assert document["truncated"] is True
    kept = document["findings"]
    assert isinstance(kept, list)
    assert 0 < len(kept) < 1_000
    assert len(str(document).encode()) < DOCUMENT_LIMIT_BYTES
