"""Pushes to branches, tags and merge-queue refs (§5): their order is told by `before`, not by a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.model import effects
from tests.model.observing import Seen, adopt
from tests.model.rows import Ref, RefKey, RunKey, State


@dataclass(frozen=True, slots=True)
class Pushed:
    """A push; `after_sha` None means that the ref was deleted."""

    installation_id: int
    repository_id: int
    ref: str
    before_sha: str
    after_sha: str | None

    @property
    def key(self) -> RefKey:
        return RefKey(self.repository_id, self.ref)


def observe_push(
    state: State, push: Pushed, now: int, *, confirmed: int | None = None, asked: str = ""
) -> tuple[str, RunKey | None]:
    """Accept when `before` equals the head and `after` was never seen on this ref; else ask GitHub for the ref.

    `confirmed` is the counter that a confirm captured: its answer is what the ref is, whatever was before.
    A deletion was seen before if the ref had to be made anew; then it may be asked about: `asked` says "ask".
    """
    repository = state.repositories.get(push.repository_id)
    if repository is None or repository.installation_id != push.installation_id:
        return "not_found", None
    if push.after_sha is not None and not state.enabled(push.repository_id):
        return "disabled", None
    ref = state.refs.get(push.key)
    if confirmed is not None:
        if ref is None or ref.observation != confirmed:
            return "moved_on", None
    elif ref is not None and ref.open and ref.head_sha == push.after_sha:  # told again
        return "existing", RunKey(*push.key, push.after_sha)
    elif not _follows(state, ref, push) or (push.after_sha is None and ref is not None and asked == "ask"):
        return _ask(state, push, now)
    return _adopt(state, push, ref, now)


def _follows(state: State, ref: Ref | None, push: Pushed) -> bool:
    if ref is None:
        return True
    if push.after_sha is None:
        return ref.head_sha == push.before_sha
    return ref.head_sha == push.before_sha and RunKey(*push.key, push.after_sha) not in state.runs


def _ask(state: State, push: Pushed, now: int) -> tuple[str, RunKey | None]:
    """What a confirm has read before this push is no answer any more, so the counter rises."""
    ref = state.refs[push.key]
    state.refs[push.key] = replace(ref, observation=ref.observation + 1)
    effects.want(state, "confirm", push.key, now)
    return "ask", None


def _adopt(state: State, push: Pushed, ref: Ref | None, now: int) -> tuple[str, RunKey | None]:
    head = push.after_sha or (push.before_sha if ref is None else ref.head_sha)
    seen = Seen(
        push.installation_id,
        push.repository_id,
        push.ref,
        open=push.after_sha is not None,
        draft=False,
        base_ref=None,
        base_sha=None,
        head_sha=head,
        observed_at=now,
        closing_reason="ref_deleted",
    )
    observed = adopt(state, seen, now)
    if ref is None:  # where a counter begins means nothing
        state.refs[push.key] = replace(state.refs[push.key], observation=1)
    return observed.outcome, observed.run
