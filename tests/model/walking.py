"""A walk: the real functions beside the reference model, call by call, with whole rows compared after each."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model import invariants, model
from tests.model.adapter import Adapter
from tests.model.comparing import differences
from tests.model.drawing import ACTIONS, PULLS, RUNNERS, TENANTS, WORLDS, Draw, World
from tests.model.publishing import Sent
from tests.model.rows import (
    AttemptKey,
    EffectKey,
    Installation,
    PublicationKey,
    Registration,
    Repository,
    RunKey,
    State,
)


class Walking(RuleBasedStateMachine):
    """Both worlds side by side; the adapter is shared by all walks and emptied for each."""

    adapter: Adapter

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000
        self.swept_at = 0
        self.world = World(PULLS, ())
        self.sent: list[Sent] = []
        self.asked: list[tuple[model.Seen, int]] = []
        self.asked_refs: list[tuple[model.Pushed, int]] = []
        self.looks: list[tuple[PublicationKey, int]] = []
        self.checks: dict[PublicationKey, int] = {}
        self.workflows = 1_000
        self.claims: list[tuple[EffectKey, int]] = []
        self.adapter.start_over(TENANTS, RUNNERS, ACTIONS)
        self.state = State(
            installations={
                id: Installation(id, execution_backend="actions" if id in ACTIONS else "runner")
                for id in TENANTS
            },
            repositories={
                repository: Repository(repository, id)
                for id, owned in TENANTS.items()
                for repository in owned
            },
            registrations={name: Registration(name, owner) for name, owner in RUNNERS.items()},
        )

    @initialize(world=st.sampled_from(WORLDS))
    def a_world_is_chosen(self, world: World) -> None:
        self.world = world

    def agree(self, expected: object, answered: object) -> None:
        """The outcome, then every row, then what must always hold in the database."""
        assert answered == expected, f"the function answers {answered}, the model {expected}"
        picture = self.adapter.read()
        self.take_cancellations(picture.state)
        problems = differences(self.state, picture.state) + picture.faults
        problems = problems or invariants.always(picture.state)
        assert not problems, "\n".join(problems)
        self.now += 1

    def take_cancellations(self, found: State) -> None:
        """A workflow that nobody waits for may be cancelled also where the design does not ask for it.

        Never one that executes an open attempt, or that told its result.
        """
        for key, effect in found.effects.items():
            if key.kind == "workflow_cancel" and self.state.effects.get(key) != effect:
                bound = [
                    attempt
                    for attempt in self.state.attempts.values()
                    if attempt.bound_to is not None
                    and (attempt.key.run.repository_id, attempt.bound_to[0]) == key.about
                ]
                if all(row.terminal and row.key not in self.state.results for row in bound):
                    self.state.effects[key] = effect

    def a_run(self, data: Draw) -> RunKey:
        return data.draw(st.sampled_from(sorted(self.state.runs)), label="run")

    def a_tenant(self, data: Draw, run: RunKey) -> int:
        """The run's own installation, or now and then another."""
        own = self.state.runs[run].installation_id
        return data.draw(st.sampled_from((own, own, own, own, own % 3 + 1)), label="installation")

    def an_attempt(self, data: Draw) -> AttemptKey:
        """Mostly a current one."""
        current = sorted(run.attempt for run in self.state.runs.values() if run.attempt is not None)
        everything = data.draw(st.sampled_from((False, False, True)), label="any attempt")
        choices = sorted(self.state.attempts) if everything or not current else current
        return data.draw(st.sampled_from(choices), label="attempt")

    @rule(seconds=st.sampled_from((1, 20, 61, 100, 121, 1_000, 5_401, 21_601)))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds
