"""Read KiCad's JSON reports: tolerant of what we do not use, strict about what we claim."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from boardreadyops.kicad.findings import Finding, Position, Severity, fingerprint
from boardreadyops.kicad.messages import clean, item_layer, message
from boardreadyops.kicad.project import KicadProject

RULE_LIMIT_CHARACTERS = 128  # a rule's name
ITEMS_LIMIT = 64  # identifiers kept of one finding
PLACE_LIMIT_MM = 1e7  # a place farther out is no place
VIOLATIONS_LIMIT = 200_000  # a report with more is not believed
_NIL_UUID = "00000000-0000-0000-0000-000000000000"

# By default KiCad only warns about these, and yet the board is not what the schematic says.
ESCALATED_RULES = frozenset({"missing_footprint", "net_conflict"})
_LIBRARY_RULES = frozenset({"lib_footprint_issues", "lib_symbol_issues", "footprint_link_issues"})
_LIBRARY_AWAY = re.compile(
    r"configuration does not include the (?:symbol|footprint) library '(?P<a>[^']*)'"
    r"|(?:symbol|footprint) library '(?P<b>[^']*)' (?:is not enabled|was not found)",
    re.IGNORECASE,
)
# kicad-cli 8 and 9 write schematic positions in hundredths of the unit that they name.
_ERC_SCALE_BY_MAJOR = {8: 100, 9: 100}


class ReportError(Exception):
    """The report is not one: raised and caught inside this floor only."""


@dataclass(frozen=True, slots=True)
class ReadReport:
    """A report's findings, and how many violations each of its lists held."""

    version: str
    findings: tuple[Finding, ...]
    counts: Mapping[str, int]


def read_drc(report: bytes, project: KicadProject) -> ReadReport:
    """Read a DRC report. Open nets and parity issues are violations too. Raises `ReportError`."""
    document = _document(report)
    path = project.relative(project.board) if project.board else project.id
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    lists: tuple[tuple[str, Literal["drc", "schematic_parity"]], ...] = (
        ("violations", "drc"), ("unconnected_items", "drc"), ("schematic_parity", "schematic_parity"),
    )  # fmt: skip
    for key, check in lists:
        raw = _list(document, key)
        counts[key] = len(raw)
        origin = Finding(check, "", "info", "", "", project.id, path)
        findings += [_finding(violation, origin, 1) for violation in raw]
    return ReadReport(_version(document), _grouped(findings), counts)


def read_erc(report: bytes, project: KicadProject) -> ReadReport:
    """Read an ERC report; every sheet's violations count. Raises `ReportError`."""
    document = _document(report)
    version = _version(document)
    scale = _ERC_SCALE_BY_MAJOR.get(int(version.split(".")[0]), 1)
    path = project.relative(project.schematic) if project.schematic else project.id
    findings: list[Finding] = []
    sheets = _list(document, "sheets")
    if not sheets:
        raise ReportError("the report names no sheet")
    for sheet in sheets:
        if not isinstance(sheet, dict):
            raise ReportError("a sheet is not an object")
        name = clean(_text(sheet, "path"), 500)
        origin = Finding("erc", "", "info", "", "", project.id, path, sheet=name)
        findings += [_finding(violation, origin, scale) for violation in _list(sheet, "violations")]
    return ReadReport(version, _grouped(findings), {"violations": len(findings)})


def _document(report: bytes) -> dict[str, object]:
    try:
        document = json.loads(report)
    except (ValueError, RecursionError) as error:
        raise ReportError("the report is not JSON") from error
    if not isinstance(document, dict):
        raise ReportError("the report is not a JSON object")
    if document.get("coordinate_units") != "mm":
        raise ReportError("the report's unit is not millimetres")
    return document


def _version(document: Mapping[str, object]) -> str:
    version = _text(document, "kicad_version")
    if not re.match(r"\d{1,4}\.\d", version):
        raise ReportError("the report names no KiCad version")
    return clean(version, 64)


def _list(document: Mapping[str, object], key: str) -> list[object]:
    value = document.get(key)
    if not isinstance(value, list):
        raise ReportError(f"the report has no list {key!r}")
    if len(value) > VIOLATIONS_LIMIT:
        raise ReportError(f"the report has more than {VIOLATIONS_LIMIT} entries in {key!r}")
    return value


def _text(document: Mapping[str, object], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise ReportError(f"the report lacks the text {key!r}")
    return value


def _severity(violation: Mapping[str, object], rule: str) -> Severity:
    if violation.get("excluded") is True:
        return "info"
    match _text(violation, "severity"):
        case "error":
            return "error"
        case "warning":
            return "error" if rule in ESCALATED_RULES else "warning"
        case "exclusion" | "info" | "ignore" | "debug" | "action":
            return "info"
        case other:
            raise ReportError(f"unknown severity {clean(other, 40)!r}")


def _finding(violation: object, origin: Finding, scale: int) -> Finding:
    if not isinstance(violation, dict):
        raise ReportError("a violation is not an object")
    rule = clean(_text(violation, "type"), RULE_LIMIT_CHARACTERS)
    if not rule:
        raise ReportError("a violation names no rule")
    description = _text(violation, "description")
    items = list(_items(violation))
    words = message(description, [_text(item, "description") for item in items])
    if violation.get("excluded") is True:
        words = clean(f"Excluded in KiCad: {words}")
    uuids = tuple(uuid for item in items if (uuid := _uuid(item)))[:ITEMS_LIMIT]
    places = [_position(item, scale) for item in items]
    marks = [_uuid(item) or f"{place}" for item, place in zip(items, places, strict=True)] or [
        clean(description)
    ]
    return replace(
        origin,
        rule=rule,
        severity=_severity(violation, rule),
        message=words,
        fingerprint=fingerprint(rule, origin.project, marks),
        position=next((place for place in places if place), None),
        item_uuids=uuids,
    )


def _items(violation: Mapping[str, object]) -> Iterator[dict[str, object]]:
    for item in _list(violation, "items"):
        if not isinstance(item, dict):
            raise ReportError("an item is not an object")
        yield item


def _uuid(item: Mapping[str, object]) -> str:
    value = item.get("uuid")
    return "" if not isinstance(value, str) or value == _NIL_UUID else clean(value, 64)


def _position(item: Mapping[str, object], scale: int) -> Position | None:
    place = item.get("pos")
    if not isinstance(place, dict):
        return None
    x, y = place.get("x"), place.get("y")
    if not isinstance(x, int | float) or not isinstance(y, int | float):
        return None
    if not (math.isfinite(x) and math.isfinite(y)) or max(abs(x), abs(y)) > PLACE_LIMIT_MM:
        return None
    return Position(round(x * scale, 4), round(y * scale, 4), item_layer(_text(item, "description")))


def _grouped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """A library this machine lacks is one note about the environment, however many items name it."""
    kept: list[Finding] = []
    away: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        found = _LIBRARY_AWAY.search(finding.message) if finding.rule in _LIBRARY_RULES else None
        if found is None:
            kept.append(finding)
        else:
            away[found["a"] or found["b"] or ""].append(finding)
    for library, group in sorted(away.items()):
        words = f"Environment, not the board: library '{library}' is not on this runner; {len(group)} items not compared"
        mark = fingerprint(group[0].rule, group[0].project, [library])
        kept.append(
            replace(
                group[0],
                severity="info",
                message=clean(words),
                fingerprint=mark,
                position=None,
                item_uuids=(),
            )
        )
    return tuple(kept)
