"""A run as its page tells it: the same model for the page and for the fragment that keeps it fresh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from boardreadyops.db import pages
from boardreadyops.db.pages import Attempt, RunFacts, ShownPublication
from boardreadyops.db.pool import Connection
from boardreadyops.domain.plain_text import one_line, short_sha
from boardreadyops.domain.timeline import Freshness, Segment, Transition, freshness, segments
from boardreadyops.domain.verdict import Facts, Verdict, verdict
from boardreadyops.web.etags import etag_of

MAX_SHOWN_FINDINGS = 200
MAX_SHOWN_CHARACTERS = 300  # of one text that a runner sent
SMALLEST_SHARE = 0.006  # of the bar, so that nothing that took time is invisible

_INITIALS = frozenset({"drc", "erc"})

CheckState = Literal["passed", "failed", "not_run", "could_not_run"]


@dataclass(frozen=True, slots=True)
class Row:
    """A run in a list: its facts and its answer."""

    run: RunFacts
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """One finding; `place` says where in words."""

    severity: str
    rule: str
    message: str
    place: str


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """Whether a check ran. What did not run is shown beside what did."""

    name: str
    project: str
    state: CheckState
    reason: str


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything the run page shows. Nothing in it depends on when it is looked at, but `freshness`."""

    run: RunFacts
    verdict: Verdict
    freshness: Freshness
    findings: tuple[ShownFinding, ...]
    findings_left_out: int
    checks: tuple[ShownCheck, ...]
    tool_versions: tuple[tuple[str, str], ...]
    has_result: bool
    attempts: tuple[Attempt, ...]
    transitions: tuple[Transition, ...]
    older_transitions: bool
    publications: tuple[ShownPublication, ...]
    others: tuple[Row, ...]
    segments: tuple[Segment, ...]
    etag: str

    @property
    def is_open(self) -> bool:
        """Whether more is to come by itself."""
        return self.freshness != "terminal"

    def attempt_number(self, attempt_id: UUID | None) -> int | None:
        """The number people know an attempt by."""
        return next((one.number for one in self.attempts if one.id == attempt_id), None)

    def runner_of(self, attempt_number: int | None) -> str | None:
        """The runner that had an attempt."""
        return next((one.runner_name for one in self.attempts if one.number == attempt_number), None)


@dataclass(frozen=True, slots=True)
class BarPart:
    """A piece of the state bar, in per cent of its width."""

    segment: Segment
    left: float
    width: float


def row_of(run: RunFacts) -> Row:
    """A run with its answer."""
    return Row(run, verdict(facts_of(run)))


async def read_run_view(connection: Connection, run_id: UUID, now: datetime) -> RunView | None:
    """The view of a run the connection's tenants may see; None when there is none."""
    run = await pages.find_run(connection, run_id)
    if run is None:
        return None
    details = await pages.result_details(connection, run)
    attempts = await pages.attempts(connection, run_id)
    events, older = await pages.transitions(connection, run_id)
    told = await pages.publications(connection, run_id)
    others = tuple(row_of(other) for other in await pages.other_runs_of_ref(connection, run))
    found = _entries(details, "findings")
    fresh = freshness(run.status, run.heartbeat_at or run.updated_at, now)
    return RunView(
        run=run,
        verdict=verdict(facts_of(run)),
        freshness=fresh,
        findings=tuple(_finding(one) for one in found[:MAX_SHOWN_FINDINGS]),
        findings_left_out=max(0, len(found) - MAX_SHOWN_FINDINGS),
        checks=tuple(_check(one) for one in _entries(details, "checks")),
        tool_versions=_versions(details),
        has_result=bool(details),
        attempts=attempts,
        transitions=events,
        older_transitions=older,
        publications=told,
        others=others,
        segments=segments(run.created_at, events, {one.id: one.number for one in attempts}),
        etag=etag_of(run, details, attempts, events, told, [row.run for row in others], fresh),
    )


def facts_of(run: RunFacts) -> Facts:
    """What the verdict is made from."""
    waited = None if run.finished_at is None else (run.finished_at - run.queued_at).total_seconds()
    return Facts(
        status=run.status,
        reason_code=run.reason_code,
        decision=run.decision,
        approval=run.approval,
        stage=run.stage,
        cancelled_by=run.cancelled_by,
        summary=run.summary,
        error_count=run.error_count,
        warning_count=run.warning_count,
        successor_sha=run.successor_sha,
        waited_seconds=waited,
        needs=tuple(run.needs),
    )


def bar_of(parts: Sequence[Segment], now: datetime) -> tuple[BarPart, ...]:
    """The segments laid end to end over the whole width, to time scale."""
    seconds = [part.seconds(now) for part in parts]
    total = sum(seconds) or 1.0
    shares = [max(SMALLEST_SHARE, one / total) for one in seconds]
    scale = 100 / sum(shares) if shares else 0.0
    laid: list[BarPart] = []
    left = 0.0
    for part, share in zip(parts, shares, strict=True):
        laid.append(BarPart(part, round(left, 3), round(share * scale, 3)))
        left += share * scale
    return tuple(laid)


def subject_of(run: RunFacts) -> str:
    """What a run is about, in words."""
    if run.pull_request_number is not None:
        return f"#{run.pull_request_number}"
    return run.ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def title_of(row: Row | RunView) -> str:
    """The page's title: the answer first."""
    run = row.run
    return f"{row.verdict.headline} · {run.repository_name} {subject_of(run)} at {short_sha(run.commit_sha)}"


def one_line_of(text: str | None) -> str:
    """A runner's text as one short line, without what could steer a reader's eye."""
    return one_line(text or "", limit_characters=MAX_SHOWN_CHARACTERS)


def _entries(details: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    given = details.get(name)
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry.get(name)
    return "" if value is None else one_line_of(str(value))


def _finding(entry: Mapping[str, object]) -> ShownFinding:
    return ShownFinding(
        _text(entry, "severity"), _text(entry, "rule"), _text(entry, "message"), _place(entry)
    )


def _place(entry: Mapping[str, object]) -> str:
    parts = [_text(entry, "path") or _text(entry, "project"), _text(entry, "sheet")]
    position = entry.get("position")
    if isinstance(position, dict):
        x_mm, y_mm, layer = position.get("x_mm"), position.get("y_mm"), _text(position, "layer")
        if isinstance(x_mm, int | float) and isinstance(y_mm, int | float):
            parts.append(f"{x_mm:.2f}, {y_mm:.2f} mm" + (f" on {layer}" if layer else ""))
    return " · ".join(part for part in parts if part)


def _check(entry: Mapping[str, object]) -> ShownCheck:
    states: Mapping[str, CheckState] = {"passed": "passed", "failed": "failed", "not_run": "not_run"}
    state = states.get(_text(entry, "state"), "could_not_run")
    name = _text(entry, "name")
    shown = name.upper() if name in _INITIALS else name.replace("_", " ")
    return ShownCheck(shown, _text(entry, "project"), state, _text(entry, "reason"))


def _versions(details: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    given = details.get("tool_versions")
    if not isinstance(given, dict):
        return ()
    return tuple(
        (one_line(str(name), limit_characters=100), one_line(str(version), limit_characters=100))
        for name, version in sorted(given.items())
    )
