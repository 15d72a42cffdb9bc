"""What a Check Run says: the verdict as its title; answer, why, next step, findings and checks as its summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from boardreadyops.db.publications import Payload, PublicationDetails
from boardreadyops.domain.plain_text import counted, one_line
from boardreadyops.domain.verdict import Facts, Verdict, verdict
from boardreadyops.worker.markdown import code, escape, fit, paragraph, table

MAX_SUMMARY_BYTES = 65_535
MAX_TITLE_CHARACTERS = 200
MAX_FINDING_ROWS = 100
MAX_CHECK_ROWS = 60
MAX_MESSAGE_CHARACTERS = 400
MAX_REASON_CHARACTERS = 300
MAX_NAME_CHARACTERS = 120
MAX_TOOLS = 20

_CHECK_NAMES = {
    "drc": "DRC",
    "erc": "ERC",
    "schematic_parity": "Schematic parity",
    "projects": "Finding projects",
}
_STATES = {
    "passed": "passed",
    "failed": "did not pass",
    "not_run": "**did not run**",
    "could_not_run": "**could not run**",
}
_SEVERITIES = {"error": "**blocks**", "warning": "warning", "info": "note"}
_SEVERITY_RANK = {"error": 0, "warning": 1}

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CheckText:
    """One Check Run's state and words. `completed_at` is UTC, only when completed; `summary` is Markdown."""

    verdict: Verdict
    title: str
    summary: str
    details_url: str
    completed_at: datetime | None


def check_text(
    release_run_id: UUID, payload: Payload, details: PublicationDetails, *, public_url: str
) -> CheckText:
    """Word a publication's frozen payload and its details; the same input gives the same text."""
    said = verdict(facts(payload, details))
    runs_url = f"{public_url.rstrip('/')}/runs"
    url = f"{runs_url}/{release_run_id}"
    links = [f"[Everything about this run]({url})"]
    if payload.get("superseded_by"):
        links.append(f"[The run that replaced it]({runs_url}/{UUID(payload['superseded_by'])})")
    completed_at = _moment(payload.get("finished_at")) if said.check_status == "completed" else None
    return CheckText(
        verdict=said,
        title=one_line(said.headline, limit_characters=MAX_TITLE_CHARACTERS),
        summary=_summary(said, details.details or {}, " · ".join(links)),
        details_url=url,
        completed_at=completed_at,
    )


def facts(payload: Payload, details: PublicationDetails) -> Facts:
    """The facts of a frozen payload and its details."""
    queued_at, finished_at = _moment(payload.get("queued_at")), _moment(payload.get("finished_at"))
    waited = (finished_at - queued_at).total_seconds() if queued_at and finished_at else None
    return Facts(
        status=payload.get("status") or "",
        reason_code=payload.get("reason_code"),
        decision=payload.get("decision"),
        approval=payload.get("approval") or "not_needed",
        stage=payload.get("stage"),
        cancelled_by=payload.get("cancelled_by"),
        summary=details.summary,
        error_count=details.error_count,
        warning_count=details.warning_count,
        successor_sha=details.successor_sha,
        waited_seconds=waited,
        needs=tuple(need for need in payload.get("needs") or () if need),
    )


def _summary(said: Verdict, result: JsonObject, links: str) -> str:
    head = [f"**{said.mark} {escape(said.headline, limit_characters=MAX_TITLE_CHARACTERS)}**"]
    head += ["", paragraph(said.why, limit_characters=1_000)]
    if said.next_step:
        head += ["", f"**Next:** {escape(said.next_step, limit_characters=500)}"]
    tail = [*_checks(result), *_tools(result), "", links]
    findings = _ranked_findings(result)
    if not findings:
        return _joined([*head, *tail])
    several = len(_objects(result, "projects")) > 1
    told = [_finding_row(one, name_project=several) for one in findings[:MAX_FINDING_ROWS]]
    opening, line, *rows = table(("", "Finding", "Where"), told)
    opening_lines = ["", f"### {counted(len(findings), 'finding')}", "", opening, line]
    unreported = result.get("truncated") is True
    after = ["", "The runner found still more than it reported."] if unreported else []
    rest = ["", f"{len(findings):,} more on the run page", *after]
    around_bytes = len(_joined([*head, *opening_lines, *rest, *tail]).encode()) + 1
    shown = fit(rows, limit_bytes=MAX_SUMMARY_BYTES - around_bytes)
    left = len(findings) - shown
    rest = ["", f"{left:,} more on the run page", *after] if left else after
    return _joined([*head, *opening_lines, *rows[:shown], *rest, *tail])


def _joined(lines: list[str]) -> str:
    """One text within GitHub's limit; a line that does not fit ends it."""
    return "\n".join(lines[: fit(lines, limit_bytes=MAX_SUMMARY_BYTES)])


def _ranked_findings(result: JsonObject) -> list[JsonObject]:
    found = _objects(result, "findings")
    return sorted(found, key=lambda one: _SEVERITY_RANK.get(_text(one, "severity"), 2))


def _finding_row(finding: JsonObject, *, name_project: bool) -> tuple[str, str, str]:
    severity = _SEVERITIES.get(_text(finding, "severity"), "note")
    message = escape(_text(finding, "message"), limit_characters=MAX_MESSAGE_CHARACTERS)
    rule = code(_text(finding, "rule"), limit_characters=MAX_NAME_CHARACTERS)
    return severity, f"{message}<br>{rule}", "<br>".join(_places(finding, name_project=name_project))


def _places(finding: JsonObject, *, name_project: bool) -> Iterator[str]:
    project, sheet, path = _text(finding, "project"), _text(finding, "sheet"), _text(finding, "path")
    if project and name_project:
        yield escape(project, limit_characters=MAX_NAME_CHARACTERS)
    position = finding.get("position")
    if sheet:
        yield f"sheet {escape(sheet, limit_characters=MAX_NAME_CHARACTERS)}"
    if isinstance(position, Mapping):
        at = _position(position)
        if at:
            yield at
    if path and not sheet:
        yield code(path, limit_characters=MAX_NAME_CHARACTERS)


def _position(position: JsonObject) -> str:
    x, y, layer = position.get("x_mm"), position.get("y_mm"), position.get("layer")
    if not isinstance(x, int | float) or not isinstance(y, int | float):
        return ""
    on = f" on {escape(layer, limit_characters=40)}" if isinstance(layer, str) and layer else ""
    return f"{x:.2f}, {y:.2f} mm{on}"


def _checks(result: JsonObject) -> list[str]:
    """Each check and what became of it, those that did not run with their reason; 'no finding' is said of none of them."""
    checks = _objects(result, "checks")
    if not checks:
        return []
    rows = []
    for check in checks[:MAX_CHECK_ROWS]:
        name = _text(check, "name")
        label = _CHECK_NAMES.get(name) or escape(name, limit_characters=MAX_NAME_CHARACTERS)
        project = _text(check, "project")
        of = f" of {escape(project, limit_characters=MAX_NAME_CHARACTERS)}" if project else ""
        state = _STATES.get(_text(check, "state"), "**did not run**")
        reason = escape(_text(check, "reason"), limit_characters=MAX_REASON_CHARACTERS)
        rows.append(f"- {label}{of}: {state}" + (f" ({reason})" if reason else ""))
    if len(checks) > MAX_CHECK_ROWS:
        rows.append(f"- {len(checks) - MAX_CHECK_ROWS:,} more on the run page")
    return ["", "### Checks", "", *rows]


def _tools(result: JsonObject) -> list[str]:
    versions = result.get("tool_versions")
    if not isinstance(versions, Mapping) or not versions:
        return []
    named = [
        f"{escape(str(name), limit_characters=60)} {escape(str(version), limit_characters=60)}"
        for name, version in list(versions.items())[:MAX_TOOLS]
    ]
    return ["", f"Checked with {', '.join(named)}."]


def _objects(result: JsonObject, name: str) -> list[JsonObject]:
    value = result.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(values: JsonObject, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None
