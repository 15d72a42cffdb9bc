"""What a walk does at GitHub's side: checks, read-backs, effects, workflow runs."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model import model
from tests.model.drawing import WORKFLOWS, Draw
from tests.model.publishing import Sent
from tests.model.rows import AttemptKey, EffectKey
from tests.model.walking import Walking


class WalkGitHub(Walking):
    """Everything that the relay and the reconciler do."""

    @precondition(lambda self: self.state.publications)
    @rule()
    def a_relay_claims(self) -> None:
        answered = self.adapter.claim_publications(30, 60, self.now)
        picked = {sent.key for sent in answered}
        expected = model.publishing.claim(self.state, 30, self.now, picked=picked)
        self.sent += expected
        self.agree(sorted(expected), sorted(answered))

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), id_off=st.integers(0, 1))
    def a_check_is_created(self, data: Draw, id_off: int) -> None:
        sent = data.draw(st.sampled_from(self.sent), label="sent")
        check = 100 + id_off
        self.agree(
            model.publishing.record_check_run(self.state, sent.key, sent.generation, check, self.now),
            self.adapter.record_check_run(sent.key, sent.generation, check, self.now),
        )

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), off=st.sampled_from((0, 0, 0, 1)))
    def github_holds_a_sequence(self, data: Draw, off: int) -> None:
        sent = data.draw(st.sampled_from(self.sent[-6:]), label="sent")
        self.acknowledge(sent, sent.seq + off)

    def acknowledge(self, sent: Sent, seq: int) -> None:
        answered = self.adapter.acknowledge(sent.key, sent.generation, seq, self.now)
        opened = set(self.adapter.read().state.publications) - set(self.state.publications)
        self.agree(
            model.publishing.acknowledge(self.state, sent.key, sent.generation, seq, self.now, opened=opened),
            answered,
        )

    @precondition(
        lambda self: any(row.desired_seq > row.acked_seq for row in self.state.publications.values())
    )
    @rule(acknowledged=st.sampled_from((True, True, False)))
    def the_relay_tells_all(self, acknowledged: bool) -> None:
        """GitHub executes every request at once; now and then an answer is lost after the check's id was stored."""
        before = len(self.sent)
        self.a_relay_claims()
        for sent in self.sent[before:]:
            check = self.checks.setdefault(sent.key, 500 + len(self.checks))
            self.agree(
                model.publishing.record_check_run(self.state, sent.key, sent.generation, check, self.now),
                self.adapter.record_check_run(sent.key, sent.generation, check, self.now),
            )
            if acknowledged:
                self.acknowledge(sent, sent.seq)

    @precondition(
        lambda self: any(
            effect.key.kind == "workflow_dispatch" and model.effects.due(effect, self.now)
            for effect in self.state.effects.values()
        )
    )
    @rule(ended=st.sampled_from(("answered", "without an id", "lost", "silent", "refused")))
    def dispatches_go_out(self, ended: str) -> None:
        """All that are due, to the end that GitHub gives them."""
        before = len(self.claims)
        self.effects_are_claimed()
        for claim in [claim for claim in self.claims[before:] if claim[0].kind == "workflow_dispatch"]:
            self.agree(
                model.dispatching.begin(self.state, *claim, self.now), self.adapter.begin(*claim, self.now)
            )
            match ended:
                case "answered" | "without an id":
                    self.workflows += 1
                    workflow = (self.workflows, 1) if ended == "answered" else None
                    self.agree(
                        model.dispatching.acknowledge(self.state, claim[0], workflow, self.now),
                        self.adapter.acknowledge_dispatch(claim[0], workflow, self.now),
                    )
                case "silent" | "refused":
                    self.agree(
                        model.dispatching.give_up(self.state, *claim, ended, self.now),
                        self.adapter.give_up(*claim, ended, self.now),
                    )

    @precondition(lambda self: any(row.bound_to is not None for row in self.state.attempts.values()))
    @rule(
        data=st.data(),
        later=st.sampled_from((0, 0, 0, 1)),
        workflow_status=st.sampled_from(("queued", "in_progress", "in_progress", "completed")),
    )
    def a_bound_workflow_run_is_seen(self, data: Draw, later: int, workflow_status: str) -> None:
        bound = sorted({row.bound_to for row in self.state.attempts.values() if row.bound_to is not None})
        workflow = data.draw(st.sampled_from(bound), label="workflow run")
        facts = (30, None, (workflow[0], workflow[1] + later), workflow_status, 60, self.now)
        self.agree(model.dispatching.reconcile(self.state, *facts), self.adapter.reconcile(*facts))

    @precondition(lambda self: self.sent)
    @rule(
        data=st.data(),
        error=st.sampled_from(("gone", "denied", "rate_limited", "transient", "uncertain")),
        delay=st.sampled_from((0, 50)),
    )
    def a_send_fails(self, data: Draw, error: str, delay: int) -> None:
        sent = data.draw(st.sampled_from(self.sent[-6:]), label="sent")
        self.agree(
            model.publishing.defer(self.state, sent.key, sent.generation, error, delay, self.now),
            self.adapter.defer(sent.key, sent.generation, error, delay, self.now),
        )

    @precondition(lambda self: self.state.publications)
    @rule()
    def checks_to_read_back_are_claimed(self) -> None:
        looks = self.adapter.claim_verifications(self.now)
        for key, seq in looks:
            row = self.state.publications[key]
            assert not row.closed, f"{key} is closed and read back"
            assert seq == row.desired_seq, f"{key} is read back for {seq} of {row.desired_seq}"
        self.looks += looks
        self.agree(None, None)

    @precondition(lambda self: self.looks)
    @rule(data=st.data(), finding=st.sampled_from(("same", "different", "frozen", "gone")))
    def a_check_was_read_back(self, data: Draw, finding: str) -> None:
        key, seq = data.draw(st.sampled_from(self.looks[-6:]), label="look")
        self.agree(
            model.publishing.verify(self.state, key, seq, finding, self.now),
            self.adapter.record_verification(key, seq, finding, self.now),
        )

    @precondition(lambda self: self.state.effects)
    @rule()
    def effects_are_claimed(self) -> None:
        answered = self.adapter.claim_effects(30, self.now)
        expected = model.effects.claim(self.state, 30, self.now)
        self.claims += answered
        self.agree(sorted(map(repr, expected)), sorted(map(repr, answered)))

    def a_claim(self, data: Draw, *, dispatch: bool) -> tuple[EffectKey, int]:
        choices = [claim for claim in self.claims if (claim[0].kind == "workflow_dispatch") == dispatch]
        return data.draw(st.sampled_from(choices[-6:]), label="effect")

    @precondition(lambda self: any(key.kind != "workflow_dispatch" for key, _ in self.claims))
    @rule(data=st.data())
    def an_effect_is_settled(self, data: Draw) -> None:
        claim = self.a_claim(data, dispatch=False)
        self.agree(model.effects.settle(self.state, *claim), self.adapter.settle_effect(*claim, self.now))

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), delay=st.sampled_from((0, 50)))
    def an_effect_is_deferred(self, data: Draw, delay: int) -> None:
        claim = data.draw(st.sampled_from(self.claims[-6:]), label="effect")
        self.agree(
            model.effects.defer(self.state, *claim, delay, self.now),
            self.adapter.defer_effect(*claim, delay, self.now),
        )

    @precondition(lambda self: any(key.kind == "workflow_dispatch" for key, _ in self.claims))
    @rule(data=st.data())
    def a_dispatch_begins(self, data: Draw) -> None:
        claim = self.a_claim(data, dispatch=True)
        self.agree(
            model.dispatching.begin(self.state, *claim, self.now), self.adapter.begin(*claim, self.now)
        )

    @precondition(lambda self: any(effect.started for effect in self.state.effects.values()))
    @rule(data=st.data(), workflow=st.sampled_from((*WORKFLOWS, None)))
    def a_dispatch_is_answered(self, data: Draw, workflow: tuple[int, int] | None) -> None:
        started = sorted(key for key, effect in self.state.effects.items() if effect.started)
        key = data.draw(st.sampled_from(started), label="dispatch")
        if workflow is not None:  # GitHub does not give one id to two dispatches
            others = {row.bound_to for row in self.state.attempts.values() if row.key != key.about}
            assume(workflow[0] not in {bound[0] for bound in others if bound is not None})
        self.agree(
            model.dispatching.acknowledge(self.state, key, workflow, self.now),
            self.adapter.acknowledge_dispatch(key, workflow, self.now),
        )

    @precondition(lambda self: any(effect.started for effect in self.state.effects.values()))
    @rule(data=st.data(), cause=st.sampled_from(("silent", "silent", "refused")))
    def a_dispatch_is_given_up(self, data: Draw, cause: str) -> None:
        started = [claim for claim in self.claims if self.state.effects[claim[0]].started]
        claim = data.draw(st.sampled_from(started), label="dispatch")
        self.agree(
            model.dispatching.give_up(self.state, *claim, cause, self.now),
            self.adapter.give_up(*claim, cause, self.now),
        )

    @precondition(lambda self: any(row.backend == "actions" for row in self.state.runs.values()))
    @rule(
        data=st.data(),
        workflow=st.sampled_from(WORKFLOWS),
        workflow_status=st.sampled_from(("queued", "in_progress", "in_progress", "completed")),
        named=st.sampled_from((True, True, False)),
    )
    def a_workflow_run_is_seen(
        self, data: Draw, workflow: tuple[int, int], workflow_status: str, named: bool
    ) -> None:
        attempts = sorted(key for key in self.state.attempts if self.state.runs[key.run].backend == "actions")
        attempt: AttemptKey | None = None
        if named and attempts:
            attempt = data.draw(st.sampled_from(attempts), label="attempt")
        facts = (30, attempt, workflow, workflow_status, 60, self.now)
        self.agree(model.dispatching.reconcile(self.state, *facts), self.adapter.reconcile(*facts))
