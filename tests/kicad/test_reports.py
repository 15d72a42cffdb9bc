"""Reading reports: pure, so no kicad-cli is needed."""

import json
from pathlib import Path
from typing import Any

import pytest

from boardreadyops.kicad.findings import ranked
from boardreadyops.kicad.reports import ReportError, read_drc, read_erc
from tests.kicad.boards import BOARDS, only_project

PROJECT = only_project(BOARDS / "first")


def item(
    words: str = "Pad 1 [N] of R1 on F.Cu", uuid: str = "u1", x: object = 1, y: object = 2
) -> dict[str, Any]:
    return {"description": words, "pos": {"x": x, "y": y}, "uuid": uuid}


def violation(rule: str = "clearance", severity: str = "error", **more: Any) -> dict[str, Any]:
    return {"type": rule, "severity": severity, "description": "Words", "items": [item()], **more}


def drc(*violations: object, **lists: object) -> bytes:
    document = {
        "coordinate_units": "mm",
        "kicad_version": "9.0.8",
        "date": "2026-01-01",
        "violations": list(violations),
        "unconnected_items": [],
        "schematic_parity": [],
        **lists,
    }
    return json.dumps(document).encode()


def test_unconnected_items_and_parity_issues_are_findings_too() -> None:
    read = read_drc(
        drc(unconnected_items=[violation("unconnected_items")], schematic_parity=[violation("net_conflict")]),
        PROJECT,
    )
    assert [(f.rule, f.check) for f in read.findings] == [
        ("unconnected_items", "drc"),
        ("net_conflict", "schematic_parity"),
    ]


@pytest.mark.parametrize("rule", ["missing_footprint", "net_conflict"])
def test_a_board_that_is_not_its_schematic_blocks_even_as_a_warning(rule: str) -> None:
    (finding,) = read_drc(drc(schematic_parity=[violation(rule, "warning")]), PROJECT).findings
    assert finding.severity == "error"


def test_what_the_engineer_excluded_is_told_but_does_not_block() -> None:
    (finding,) = read_drc(drc(violation(excluded=True)), PROJECT).findings
    assert finding.severity == "info"
    assert finding.message.startswith("Excluded in KiCad: ")


def test_a_fingerprint_knows_rule_and_items_but_not_date_measure_or_order() -> None:
    two = [item(uuid="a"), item(uuid="b")]
    one = read_drc(drc(violation(items=two)), PROJECT).findings[0]
    other = read_drc(drc(violation(items=two[::-1], description="Other"), date="2030"), PROJECT).findings[0]
    assert one.fingerprint == other.fingerprint
    assert (
        one.fingerprint
        != read_drc(drc(violation("hole_clearance", items=two)), PROJECT).findings[0].fingerprint
    )


def test_without_identifiers_places_tell_findings_apart() -> None:
    nil = "00000000-0000-0000-0000-000000000000"
    here, there = (
        read_drc(drc(violation(items=[item(uuid=nil, x=x)])), PROJECT).findings[0].fingerprint for x in (1, 2)
    )
    assert here != there


def test_equal_findings_keep_distinct_and_stable_fingerprints() -> None:
    found = ranked(read_drc(drc(violation(), violation()), PROJECT).findings)
    assert len({finding.fingerprint for finding in found}) == 2
    assert found == ranked(reversed(found[:1] + read_drc(drc(violation()), PROJECT).findings))


def test_errors_come_before_warnings() -> None:
    found = ranked(read_drc(drc(violation("a", "warning"), violation("z")), PROJECT).findings)
    assert [finding.severity for finding in found] == ["error", "warning"]


@pytest.mark.parametrize(("version", "x_mm"), [("8.0.9", 66.04), ("9.0.8", 66.04), ("10.0.0", 0.6604)])
def test_positions_of_an_old_electrical_report_are_hundredths(version: str, x_mm: float) -> None:
    sheet = {
        "path": "/Supply/",
        "violations": [violation("pin_not_connected", items=[item("Pin", x=0.6604)])],
    }
    document = {"coordinate_units": "mm", "kicad_version": version, "sheets": [sheet]}
    (finding,) = read_erc(json.dumps(document).encode(), PROJECT).findings
    assert finding.sheet == "/Supply/"
    assert finding.path == "power-board.kicad_sch"
    assert finding.position is not None
    assert finding.position.x_mm == x_mm


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        drc(violations={}),
        drc(violations=None),
        drc(unconnected_items=None),
        drc(schematic_parity="none"),
        drc(coordinate_units="in"),
        drc(kicad_version=9),
        drc("words"),
        drc(violation(severity="fatal")),
        drc(violation(type=None)),
        drc(violation(items=["x"])),
        drc(violation(items=None)),
    ],
)
def test_what_is_not_a_whole_report_is_refused(report: bytes) -> None:
    with pytest.raises(ReportError):
        read_drc(report, PROJECT)


def test_a_report_without_sheets_says_nothing_about_a_schematic() -> None:
    document = {"coordinate_units": "mm", "kicad_version": "9.0.8", "sheets": []}
    with pytest.raises(ReportError):
        read_erc(json.dumps(document).encode(), PROJECT)


@pytest.mark.parametrize(
    "place", [{"x": "1", "y": 2}, {"x": 1e300, "y": 0}, {"x": float("nan"), "y": 0}, None, []]
)
def test_an_odd_place_is_no_place(place: object) -> None:
    odd = {"description": "Pad", "uuid": "u", "pos": place}
    (finding,) = read_drc(drc(violation(items=[odd])), PROJECT).findings
    assert finding.position is None


def test_the_projects_path_is_told_from_the_root(tmp_path: Path) -> None:
    folder = tmp_path / "hardware" / "Größe 1"
    folder.mkdir(parents=True)
    for suffix in ("pro", "pcb"):
        (folder / f"b ö.kicad_{suffix}").write_text("{}")
    (finding,) = read_drc(drc(violation()), only_project(tmp_path)).findings
    assert (finding.project, finding.path) == ("hardware/Größe 1/b ö", "hardware/Größe 1/b ö.kicad_pcb")
