"""Observations of refs (§5): adopt, record late, confirm, close, level rule, branches and tags."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.model import effects
from tests.model.edges import PERSON_OR_POLICY
from tests.model.moving import (
    ask_again,
    deadline,
    dispatch_when_due,
    end_run,
    open_publication,
    plan_dispatch,
    raise_publication,
)
from tests.model.rows import Ref, RefKey, Run, RunKey, State


@dataclass(frozen=True, slots=True)
class Seen:
    """A ref as one payload or one answer of GitHub shows it, at its own time (seconds)."""

    installation_id: int
    repository_id: int
    ref: str
    open: bool
    draft: bool
    base_ref: str | None
    base_sha: str | None
    head_sha: str
    observed_at: int
    trust_mode: str = "trusted"
    closing_reason: str = "pull_request_closed"

    @property
    def key(self) -> RefKey:
        return RefKey(self.repository_id, self.ref)

    @property
    def run(self) -> RunKey:
        return RunKey(self.repository_id, self.ref, self.head_sha)

    def same_content(self, ref: Ref) -> bool:
        return (self.open, self.draft, self.base_ref, self.base_sha, self.head_sha) == (
            ref.open,
            ref.draft,
            ref.base_ref,
            ref.base_sha,
            ref.head_sha,
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """What became of an observation."""

    outcome: str
    run: RunKey | None = None
    confirm: bool = False
    cancelled: tuple[RunKey, ...] = ()


def observe(state: State, seen: Seen, now: int, *, confirmed: int | None = None) -> Observed:
    """A pull request payload, any action; `confirmed` is the counter that a confirm captured before it asked."""
    repository = state.repositories.get(seen.repository_id)
    if repository is None or repository.installation_id != seen.installation_id:
        return Observed("not_found")
    if seen.open and not state.enabled(seen.repository_id):
        return Observed("disabled")
    match place(state.refs.get(seen.key), seen, confirmed):
        case "adopt":
            return adopt(state, seen, now)
        case "moved_on":
            return Observed("moved_on")  # the same question is asked again, by whoever holds it
        case "earlier":
            effects.want(state, "confirm", seen.key, now)
            return _earlier(state, seen, now)
        case "equal":
            if seen.open:  # nothing is adopted, but what the sweep would do may be done at once
                apply_level_rule(state, seen.key, now)
            return _known(state, seen, confirm=False)
        case _:
            ref = state.refs[seen.key]
            state.refs[seen.key] = replace(ref, observation=ref.observation + 1)
            effects.want(state, "confirm", seen.key, now)
            return _known(state, seen, confirm=True)


def place(ref: Ref | None, seen: Seen, confirmed: int | None) -> str:
    """Where an observation stands beside what is stored: adopt, moved_on, earlier, equal or ask."""
    if ref is None:
        return "adopt"
    if confirmed is not None:
        current = confirmed == ref.observation and seen.observed_at >= ref.observed_at
        return "adopt" if current else "moved_on"
    if seen.observed_at != ref.observed_at:
        return "adopt" if seen.observed_at > ref.observed_at else "earlier"
    return "equal" if seen.same_content(ref) else "ask"


def _known(state: State, seen: Seen, *, confirm: bool) -> Observed:
    if not seen.open:
        return Observed("ask" if confirm else "closed", confirm=confirm)
    known = seen.run if seen.run in state.runs else None
    return Observed("ignored" if known is None else "existing", known, confirm)


def _earlier(state: State, seen: Seen, now: int) -> Observed:
    """The ref is unchanged; an unknown SHA is recorded superseded if something can succeed it."""
    if not seen.open:
        return Observed("older", confirm=True)
    successor = state.refs[seen.key].authoritative
    if seen.run in state.runs or successor is None:
        return _known(state, seen, confirm=True)
    run = _insert(state, seen, now, superseded_by=successor)
    end_run(state, run, "superseded", "newer_commit", now)
    return Observed("superseded", seen.run, confirm=True)


def _insert(state: State, seen: Seen, now: int, *, superseded_by: RunKey | None = None) -> Run:
    installation = state.installations[seen.installation_id]
    waits = seen.trust_mode == "fork" and installation.fork_policy == "approve"
    clock = "approval_timeout_seconds" if waits else "queue_timeout_seconds"
    own: int | None = getattr(installation, clock)
    run = Run(
        seen.run,
        status="queued",
        version=0,
        decision=None,
        reason_code=None,
        retry_number=0,
        attempt=None,
        superseded_by=superseded_by,
        base_sha=seen.base_sha,
        trust_mode=seen.trust_mode,
        backend=installation.execution_backend,
        approval="waiting" if waits else "not_needed",
        due_at=now + (getattr(state.settings, clock) if own is None else own),
        installation_id=seen.installation_id,
        queued_at=now,
    )
    state.runs[run.key] = run
    run = plan_dispatch(state, run)
    open_publication(state, run, now)
    return run


def adopt(state: State, seen: Seen, now: int) -> Observed:
    """Adopt all of it: head, base, draft, open or closed; then the runs follow."""
    before = state.refs.get(seen.key)
    counter = 0
    if before is not None:
        news = seen.observed_at != before.observed_at or not seen.same_content(before)
        counter = before.observation + news
    authoritative = seen.run if seen.open else (before.authoritative if before is not None else None)
    state.refs[seen.key] = Ref(
        seen.key,
        seen.open,
        seen.draft,
        seen.base_ref,
        seen.base_sha,
        seen.head_sha,
        seen.observed_at,
        counter,
        authoritative,
    )
    if not seen.open:
        ended = [run for run in state.runs_of(seen.key) if not run.terminal]
        for run in ended:
            end_run(state, run, "cancelled", seen.closing_reason, now)
        return Observed("closed", cancelled=tuple(sorted(run.key for run in ended)))
    for run in state.runs_of(seen.key):
        if not run.terminal and run.key != seen.run:
            end_run(state, run, "superseded", "newer_commit", now, superseded_by=seen.run)
    if seen.run in state.runs:
        state.runs[seen.run] = replace(state.runs[seen.run], base_sha=seen.base_sha)
        apply_level_rule(state, seen.key, now)
        return Observed("existing", seen.run)
    run = _insert(state, seen, now)
    if seen.trust_mode == "fork" and state.installations[seen.installation_id].fork_policy == "skip":
        end_run(state, run, "cancelled", "policy_skipped", now)
    return Observed("created", seen.run)


def needs_asking(state: State, ref: Ref) -> bool:
    """The head of an open, enabled ref whose run is superseded, or cancelled by neither a person nor policy."""
    run = state.runs.get(RunKey(*ref.key, ref.head_sha))
    if run is None or not ref.open or not state.enabled(ref.key.repository_id):
        return False
    return run.status == "superseded" or (
        run.status == "cancelled" and run.reason_code not in PERSON_OR_POLICY
    )


def apply_level_rule(state: State, ref_key: RefKey, now: int) -> str:
    """Ask the head again if it ended for no reason of its own."""
    ref = state.refs.get(ref_key)
    if ref is None or not needs_asking(state, ref):
        return "none"
    ask_again(state, state.runs[RunKey(*ref_key, ref.head_sha)], "head_returned", now)
    return "created"


def approve(state: State, run_key: RunKey, installation_id: int, now: int) -> str:
    """Let a fork's run go: no status, no version; the queue clock starts and the publication is raised."""
    run = state.runs.get(run_key)
    if run is None or run.installation_id != installation_id:
        return "not_found"
    if run.approval != "waiting":
        return "existing"
    if run.terminal:
        return "terminal"
    run = replace(run, approval="approved", queued_at=now)
    run = replace(run, due_at=deadline(state, run, run.status, now))
    state.runs[run_key] = run
    raise_publication(state, run)
    dispatch_when_due(state, run, now)
    return "applied"
