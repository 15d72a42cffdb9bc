"""What a walk does to refs and runs: deliveries, pushes, people, tenants, deadlines."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model import drawing, model
from tests.model.drawing import ATTEMPT_STATUSES, RUN_STATUSES, TENANTS, Draw
from tests.model.edges import ATTEMPT_EDGES, RUN_EDGES
from tests.model.rows import RunKey
from tests.model.walking import Walking


class WalkRefs(Walking):
    """Everything that GitHub, people and time do to refs and their runs."""

    @rule(data=st.data())
    def a_delivery_comes(self, data: Draw) -> None:
        seen = drawing.seen(data, self.world)
        self.agree(model.observe(self.state, seen, self.now), self.adapter.observe(seen, self.now))

    @rule(data=st.data())
    def a_confirm_asks(self, data: Draw) -> None:
        seen = drawing.seen(data, self.world)
        ref = self.state.refs.get(seen.key)
        if ref is not None:
            self.asked.append((seen, ref.observation))

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def a_confirm_is_answered(self, data: Draw) -> None:
        seen, confirmed = data.draw(st.sampled_from(self.asked), label="answer")
        self.agree(
            model.observe(self.state, seen, self.now, confirmed=confirmed),
            self.adapter.observe(seen, self.now, confirmed=confirmed),
        )

    @precondition(lambda self: self.state.runs)
    @rule(
        data=st.data(),
        reason=st.sampled_from(("cancelled_by_user", "cancelled_by_user", "repository_removed", "Not legal")),
    )
    def somebody_cancels(self, data: Draw, reason: str) -> None:
        run = self.a_run(data)
        installation = self.a_tenant(data, run)
        by = "octocat" if reason == "cancelled_by_user" else None
        self.agree(
            model.cancel(self.state, run, reason, by, self.now, installation_id=installation),
            self.adapter.cancel(run, reason, by, self.now, installation_id=installation),
        )

    @rule(data=st.data(), really=st.sampled_from((False, False, False, True)))
    def an_installation_is_suspended(self, data: Draw, really: bool) -> None:
        """The metadata first; its open work is cancelled in batches, and much can happen between."""
        if not really:
            return
        installation = data.draw(st.sampled_from(self.world.installations), label="installation")
        self.adapter.suspend(installation, self.now, suspended=True)
        self.state.installations[installation] = replace(
            self.state.installations[installation], enabled=False
        )
        self.agree(None, None)

    @precondition(lambda self: not all(row.enabled for row in self.state.installations.values()))
    @rule(data=st.data())
    def its_open_work_is_cancelled(self, data: Draw) -> None:
        disabled = [row.id for row in self.state.installations.values() if not row.enabled]
        installation = data.draw(st.sampled_from(disabled), label="installation")
        reason = "installation_suspended"
        self.agree(
            model.cancel_installation(self.state, installation, reason, 100, self.now),
            self.adapter.cancel_installation(installation, reason, 100, self.now),
        )

    @precondition(lambda self: not all(row.enabled for row in self.state.installations.values()))
    @rule(data=st.data())
    def an_installation_is_unsuspended(self, data: Draw) -> None:
        disabled = [row.id for row in self.state.installations.values() if not row.enabled]
        installation = data.draw(st.sampled_from(disabled), label="installation")
        self.adapter.suspend(installation, self.now, suspended=False)
        self.adapter.resume(installation, self.now)
        self.state.installations[installation] = replace(self.state.installations[installation], enabled=True)
        model.publishing.resume(self.state, installation, self.now)
        model.effects.resume(self.state, installation, self.now)
        repositories = TENANTS[installation]
        due = {key for key in model.levels_due(self.state) if key.repository_id in repositories}
        returned = self.adapter.sweep_levels(self.now)
        assert due <= set(returned), f"{due - set(returned)} were not asked again"
        self.levels(returned)

    def levels(self, returned: list[RunKey]) -> None:
        """What the sweep asked again must be due; when it looks at a ref that nothing happened to is its own affair."""
        assert set(returned) <= model.levels_due(self.state)
        for key in returned:
            model.apply_level_rule(self.state, key.of_ref, self.now)
        self.agree(None, None)

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data())
    def a_general_transition_is_asked(self, data: Draw) -> None:
        run = self.state.runs[self.a_run(data)]
        attempt = self.state.attempt_of(run)
        wrong = data.draw(st.sampled_from((0, 0, 0, 0, 1, 2, 3)), label="what is wrong")
        nexts = (None, *sorted(ATTEMPT_EDGES.get(attempt.status, ()))) if attempt is not None else (None,)
        legal = data.draw(st.sampled_from((True, True, False)), label="along edges")
        next_attempt = data.draw(st.sampled_from(nexts if legal else ATTEMPT_STATUSES), label="next attempt")
        next_run = (None, *sorted(RUN_EDGES.get(run.status, ()))) if legal else RUN_STATUSES
        named = run.attempt
        if wrong == 2:
            named = data.draw(st.sampled_from((None, *sorted(self.state.attempts))), label="attempt")
        wish = model.Wish(
            run.key,
            data.draw(st.sampled_from(RUN_STATUSES)) if wrong == 1 else run.status,
            run.version + (wrong == 1),
            named,
            data.draw(st.sampled_from(next_run), label="next run"),
            data.draw(st.sampled_from(("by_test", "by_test", "by_test", "Not legal")), label="reason"),
            None if attempt is None or next_attempt is None else attempt.status,
            None if attempt is None or next_attempt is None else attempt.version + (wrong == 3),
            next_attempt,
        )
        self.agree(model.transition(self.state, wish, self.now), self.adapter.transition(wish, self.now))

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data(), off=st.sampled_from((0, 0, 0, -1, 1)))
    def somebody_retries(self, data: Draw, off: int) -> None:
        run = self.a_run(data)
        installation = self.a_tenant(data, run)
        expected = self.state.runs[run].retry_number + off
        self.agree(
            model.retry(self.state, run, expected, self.now, installation_id=installation),
            self.adapter.retry(run, expected, self.now, installation_id=installation),
        )

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data())
    def somebody_approves(self, data: Draw) -> None:
        waiting = sorted(run.key for run in self.state.runs.values() if run.approval == "waiting")
        run = data.draw(st.sampled_from(waiting or sorted(self.state.runs)), label="run")
        installation = self.a_tenant(data, run)
        self.agree(
            model.approve(self.state, run, installation, self.now),
            self.adapter.approve(run, self.now, installation_id=installation),
        )

    @precondition(
        lambda self: any(
            row.due_at is not None and row.due_at <= self.now for row in self.state.runs.values()
        )
    )
    @rule()
    def deadlines_are_swept(self) -> None:
        self.agree(len(model.sweep_deadlines(self.state, self.now)), self.adapter.sweep_deadlines(self.now))

    @precondition(lambda self: bool(model.levels_due(self.state)))
    @rule()
    def levels_are_swept(self) -> None:
        self.levels(self.adapter.sweep_levels(self.now))

    @precondition(lambda self: self.world.pushes)
    @rule(data=st.data(), fits=st.booleans())
    def somebody_pushes(self, data: Draw, fits: bool) -> None:
        push = drawing.pushed(data, self.world)
        ref = self.state.refs.get(push.key)
        if fits and ref is not None:
            push = replace(push, before_sha=ref.head_sha)
        answered = self.adapter.observe_push(push, self.now)
        self.agree(model.observe_push(self.state, push, self.now, asked=answered[0]), answered)

    @precondition(lambda self: self.world.pushes)
    @rule(data=st.data())
    def a_confirm_of_a_pushed_ref_asks(self, data: Draw) -> None:
        push = drawing.pushed(data, self.world)
        ref = self.state.refs.get(push.key)
        if ref is not None:
            self.asked_refs.append((push, ref.observation))

    @precondition(lambda self: self.asked_refs)
    @rule(data=st.data())
    def a_confirm_of_a_pushed_ref_is_answered(self, data: Draw) -> None:
        push, confirmed = data.draw(st.sampled_from(self.asked_refs), label="answer")
        self.agree(
            model.observe_push(self.state, push, self.now, confirmed=confirmed),
            self.adapter.observe_push(push, self.now, confirmed=confirmed),
        )
