"""The real functions beside the reference model: the same calls, the same outcomes, the same whole rows."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.conftest import DatabaseUrls
from tests.model import invariants, model
from tests.model.adapter import Adapter
from tests.model.comparing import differences
from tests.model.drawing import ATTEMPT_STATUSES, PAIRS, RUN_STATUSES, RUNNERS, SEEN, TENANTS, Draw
from tests.model.edges import ATTEMPT_EDGES, RUN_EDGES, STAGES
from tests.model.publishing import Sent
from tests.model.rows import AttemptKey, Installation, Registration, Repository, RunKey, State
from tests.model.session import digest, request_id


class Lifecycle(RuleBasedStateMachine):
    """Both worlds side by side; the adapter is shared by all examples and emptied for each."""

    adapter: Adapter

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000
        self.swept_at = 0
        self.sent: list[Sent] = []
        self.asked: list[tuple[model.Seen, int]] = []
        self.adapter.start_over(TENANTS, RUNNERS)
        self.state = State(
            installations={id: Installation(id) for id in TENANTS},
            repositories={
                repository: Repository(repository, id)
                for id, owned in TENANTS.items()
                for repository in owned
            },
            registrations={name: Registration(name, owner) for name, owner in RUNNERS.items()},
        )

    def agree(self, expected: object, answered: object) -> None:
        """The outcome, then every row, then what must always hold in the database."""
        assert answered == expected, f"the function answers {answered}, the model {expected}"
        picture = self.adapter.read()
        problems = differences(self.state, picture.state) or invariants.always(picture.state)
        assert not problems, "\n".join(problems)
        self.now += 1

    def a_run(self, data: Draw) -> RunKey:
        return data.draw(st.sampled_from(sorted(self.state.runs)), label="run")

    def an_attempt(self, data: Draw) -> AttemptKey:
        current = sorted(run.attempt for run in self.state.runs.values() if run.attempt is not None)
        everything = data.draw(st.sampled_from((False, False, True)), label="any attempt")
        choices = sorted(self.state.attempts) if everything or not current else current
        return data.draw(st.sampled_from(choices), label="attempt")

    @rule(seconds=st.sampled_from((1, 20, 61, 100, 121, 1_000, 5_401, 21_601)))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @rule(seen=SEEN)
    def a_delivery_comes(self, seen: model.Seen) -> None:
        self.agree(model.observe(self.state, seen, self.now), self.adapter.observe(seen, self.now))

    @rule(seen=SEEN)
    def a_confirm_asks(self, seen: model.Seen) -> None:
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
        installation=st.sampled_from((1, 1, 2)),
    )
    def somebody_cancels(self, data: Draw, reason: str, installation: int) -> None:
        run = self.a_run(data)
        by = "octocat" if reason == "cancelled_by_user" else None
        self.agree(
            model.cancel(self.state, run, reason, by, self.now, installation_id=installation),
            self.adapter.cancel(run, reason, by, self.now, installation_id=installation),
        )

    @rule(installation=st.sampled_from((1, 2)))
    def an_installation_is_suspended(self, installation: int) -> None:
        self.adapter.suspend(installation, self.now, suspended=True)
        self.state.installations[installation] = replace(
            self.state.installations[installation], enabled=False
        )
        reason = "installation_suspended"
        self.agree(
            model.cancel_installation(self.state, installation, reason, 100, self.now),
            self.adapter.cancel_installation(installation, reason, 100, self.now),
        )

    @rule(installation=st.sampled_from((1, 2)))
    def an_installation_is_unsuspended(self, installation: int) -> None:
        self.adapter.suspend(installation, self.now, suspended=False)
        self.state.installations[installation] = replace(self.state.installations[installation], enabled=True)
        model.publishing.resume(self.state, installation, self.now)
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

    @rule(runner=st.sampled_from(tuple(RUNNERS)), request=st.sampled_from((0, 1, None, None, None)))
    def a_runner_claims(self, runner: str, request: int | None) -> None:
        request = self.now if request is None else request
        outcome, attempt = self.adapter.claim(runner, f"{runner} {request}", self.now)
        picked = None if attempt is None else attempt.run
        if outcome == "created":
            choices = model.fair_choices(self.state, runner, self.now)
            assert picked in choices, f"{picked} was handed out instead of one of {choices}"
        claimed = model.claim(
            self.state, runner, str(request_id(f"{runner} {request}")), self.now, picked=picked
        )
        self.agree(tuple(claimed), (outcome, attempt))

    @precondition(lambda self: self.state.leases)
    @rule(data=st.data(), stage=st.sampled_from(STAGES))
    def a_runner_beats(self, data: Draw, stage: str) -> None:
        attempt = data.draw(st.sampled_from(sorted(self.state.leases)), label="lease")
        self.agree(
            model.heartbeat(self.state, attempt, stage, self.now),
            self.adapter.heartbeat(attempt, stage, self.now),
        )

    @precondition(lambda self: self.state.attempts)
    @rule(
        data=st.data(),
        pair=st.sampled_from(PAIRS),
        body=st.sampled_from(("one", "two")),
        retry_off=st.sampled_from((0, 0, 0, 1)),
    )
    def a_result_comes(self, data: Draw, pair: tuple[str, str], body: str, retry_off: int) -> None:
        attempt = self.an_attempt(data)
        run = attempt.run if data.draw(st.integers(0, 5)) else self.a_run(data)
        report = model.Report(
            run,
            attempt,
            self.state.attempts[attempt].retry_number + retry_off,
            digest(f"{body} {pair}").hex(),
            *pair,
        )
        self.agree(
            model.record_result(self.state, report, self.now), self.adapter.record_result(report, self.now)
        )

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
    @rule(data=st.data(), off=st.sampled_from((0, 0, 0, -1, 1)), installation=st.sampled_from((1, 1, 1, 2)))
    def somebody_retries(self, data: Draw, off: int, installation: int) -> None:
        run = self.a_run(data)
        expected = self.state.runs[run].retry_number + off
        self.agree(
            model.retry(self.state, run, expected, self.now, installation_id=installation),
            self.adapter.retry(run, expected, self.now, installation_id=installation),
        )

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data(), installation=st.sampled_from((1, 1, 1, 2)))
    def somebody_approves(self, data: Draw, installation: int) -> None:
        waiting = sorted(run.key for run in self.state.runs.values() if run.approval == "waiting")
        run = data.draw(st.sampled_from(waiting or sorted(self.state.runs)), label="run")
        self.agree(
            model.approve(self.state, run, installation, self.now),
            self.adapter.approve(run, self.now, installation_id=installation),
        )

    @precondition(lambda self: self.state.leases)
    @rule(
        data=st.data(),
        reason=st.sampled_from(("shutdown", "capacity", "operator", "job_error", "capability")),
    )
    def a_runner_gives_back(self, data: Draw, reason: str) -> None:
        attempt = data.draw(st.sampled_from(sorted(self.state.leases)), label="lease")
        expected = model.relinquish(self.state, attempt, reason, self.now)
        answered = self.adapter.relinquish(attempt, reason, self.now)
        self.wait_as_long(attempt.run)
        self.agree(expected, answered)

    def wait_as_long(self, key: RunKey) -> None:
        """How long a run that was given back is held back is not the design's: the database's word is taken."""
        row = self.adapter.read().state.runs[key]
        run = self.state.runs[key]
        assert row.queued_at >= run.queued_at
        self.state.runs[key] = replace(run, queued_at=row.queued_at, not_before=row.queued_at)

    @rule(runner=st.sampled_from((*RUNNERS, *[None] * 20)))
    def a_runner_is_revoked(self, runner: str | None) -> None:
        if runner is not None:
            self.agree(model.revoke(self.state, runner, self.now), self.adapter.revoke(runner, self.now))

    @rule()
    def leases_are_swept(self) -> None:
        self.adapter.expire_leases(self.now)
        self.take_grace()
        model.expire_leases(self.state, self.now)
        self.swept_at = self.now
        self.agree(None, None)

    def take_grace(self) -> None:
        """After an outage leases get one lease length more; when a silence is an outage, the database may say."""
        for key, found in self.adapter.read().state.leases.items():
            lease = self.state.leases[key]
            if lease.state == found.state == "active" and found.expires_at > lease.expires_at:
                assert self.now - self.swept_at > 20, "there was no outage"
                assert found.expires_at <= min(
                    self.now + self.state.settings.lease_seconds, lease.maximum_expires_at
                )
                self.state.leases[key] = replace(lease, expires_at=found.expires_at)

    @rule()
    def deadlines_are_swept(self) -> None:
        self.agree(len(model.sweep_deadlines(self.state, self.now)), self.adapter.sweep_deadlines(self.now))

    @rule()
    def levels_are_swept(self) -> None:
        self.levels(self.adapter.sweep_levels(self.now))

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
        self.agree(
            model.publishing.acknowledge(self.state, sent.key, sent.generation, sent.seq + off),
            self.adapter.acknowledge(sent.key, sent.generation, sent.seq + off, self.now),
        )

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


_SEED = "BOARDREADYOPS_TEST_SEED"
PROFILE = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=_SEED
    not in os.environ,  # the same walks every time; with the variable set, those of its number
    print_blob=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)


@pytest.fixture
def adapter(database_urls: DatabaseUrls) -> Iterator[Adapter]:
    with Adapter(database_urls.app, database_urls.owner) as adapter:
        yield adapter


def test_the_functions_answer_and_write_what_the_model_says(adapter: Adapter) -> None:
    machine = type("Machine", (Lifecycle,), {"adapter": adapter})
    if _SEED in os.environ:
        machine = seed(int(os.environ[_SEED]))(machine)
    run_state_machine_as_test(machine, settings=copy.copy(PROFILE))
