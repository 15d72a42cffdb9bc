"""What a walk does with runners: claims, heartbeats, results, ends of leases."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.model import model
from tests.model.drawing import PAIRS, RUNNERS, Draw
from tests.model.edges import STAGES
from tests.model.rows import RunKey
from tests.model.session import digest, request_id
from tests.model.walking import Walking


class WalkRunners(Walking):
    """Everything that runners do, and the sweep that watches them."""

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

    @precondition(lambda self: any(row.state == "active" for row in self.state.leases.values()))
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
