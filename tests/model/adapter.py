"""Speaks to the real functions in the model's words. Each call is one transaction of the working login at a given time."""

from __future__ import annotations

from typing import Any

from boardreadyops.db.metadata import put_installation
from boardreadyops.domain.identity import InstallationState
from tests.model.adapter_github import GitHubAdapter
from tests.model.asking import Cancelled, Retried, Transition, Wish
from tests.model.leasing import Beat
from tests.model.observing import Observed, Seen
from tests.model.pushing import Pushed
from tests.model.reporting import Report
from tests.model.rows import AttemptKey, RunKey
from tests.model.session import NO_ID, at, request_id


class Adapter(GitHubAdapter):
    """Every move of the model, made on the real functions."""

    def observe(self, seen: Seen, now: int, *, confirmed: int | None = None) -> Observed:
        number = int(seen.ref.split("/")[2])
        facts = (seen.installation_id, seen.repository_id, seen.ref, number, seen.head_sha)
        facts += (seen.base_ref, seen.base_sha, seen.draft)  # type: ignore[assignment]
        if seen.open:
            row = self._row(
                "SELECT * FROM boardreadyops_enqueue_release_run_with_outbox($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)",
                *facts,
                seen.trust_mode,
                at(seen.observed_at),
                confirmed,
                at(now),
            )
            keys = self.read().keys
            run = None if row["release_run_id"] is None else keys[row["release_run_id"]]
            return Observed(row["enqueue_outcome"], run, row["confirm_requested"])
        row = self._row(
            "SELECT * FROM boardreadyops_close_ref($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
            *facts,
            at(seen.observed_at),
            confirmed,
            at(now),
        )
        keys = self.picture.keys
        outcome = row["close_outcome"]
        cancelled = tuple(sorted(keys[id] for id in row["cancelled_run_ids"]))
        return Observed(outcome, None, outcome in {"older", "ask"}, cancelled)

    def observe_push(
        self, push: Pushed, now: int, *, confirmed: int | None = None
    ) -> tuple[str, RunKey | None]:
        row = self._row(
            "SELECT * FROM boardreadyops_enqueue_pushed_ref($1,$2,$3,$4,$5,$6,$7)",
            push.installation_id,
            push.repository_id,
            push.ref,
            push.before_sha,
            push.after_sha,
            confirmed,
            at(now),
        )
        id = row["release_run_id"]
        return row["enqueue_outcome"], None if id is None else self.read().keys[id]

    def cancel(
        self, run: RunKey, reason: str, by: str | None, now: int, *, installation_id: int
    ) -> Cancelled:
        id = self.picture.run_ids[run]
        return Cancelled(
            *self._row(
                "SELECT * FROM boardreadyops_cancel_release_run($1,$2,$3,$4,$5)",
                installation_id,
                id,
                reason,
                by,
                at(now),
            )
        )

    def cancel_installation(self, installation_id: int, reason: str, limit: int, now: int) -> int:
        row = self._row(
            "SELECT boardreadyops_cancel_installation_runs($1,$2,$3,$4)",
            installation_id,
            reason,
            limit,
            at(now),
        )
        count: int = row[0]
        return count

    def claim(self, runner: str, request: str, now: int) -> tuple[str, AttemptKey | None]:
        row = self._row(
            "SELECT * FROM boardreadyops_claim_runner_lease($1,$2,$3,$4)",
            self._registrations[runner],
            request_id(request),
            [],
            at(now),
        )
        leases = {id: key for key, id in self.read().lease_ids.items()}
        return row["claim_outcome"], leases.get(row["lease_id"])

    def retry(self, run: RunKey, expected: int, now: int, *, installation_id: int) -> Retried:
        id = self.picture.run_ids[run]
        row = self._row(
            "SELECT * FROM boardreadyops_retry_release_run($1,$2,$3,$4)",
            installation_id,
            id,
            expected,
            at(now),
        )
        return Retried(row["retry_outcome"], row["retry_number"])

    def approve(self, run: RunKey, now: int, *, installation_id: int) -> str:
        id = self.picture.run_ids[run]
        return str(
            self._row(
                "SELECT boardreadyops_approve_release_run($1,$2,$3,$4)",
                installation_id,
                id,
                "octocat",
                at(now),
            )[0]
        )

    def relinquish(self, attempt: AttemptKey, reason: str, now: int) -> str:
        id = self.picture.lease_ids[attempt]
        return str(
            self._row(
                "SELECT boardreadyops_relinquish_runner_lease($1,$2,'',$3,$4)", id, reason, [], at(now)
            )[0]
        )

    def revoke(self, runner: str, now: int) -> str:
        id = self._registrations[runner]
        return str(self._row("SELECT boardreadyops_revoke_runner($1,$2)", id, at(now))[0])

    def expire_leases(self, now: int) -> int:
        return self._count("SELECT count(*) FROM boardreadyops_expire_runner_leases(100, NULL, $1)", at(now))

    def sweep_deadlines(self, now: int) -> int:
        return self._count("SELECT count(*) FROM boardreadyops_sweep_deadlines(100, NULL, $1)", at(now))

    def sweep_levels(self, now: int) -> list[RunKey]:
        before = self.read().state.runs
        sweep = "SELECT count(*) FROM boardreadyops_sweep_levels(100, $1)"
        while self._count(sweep, at(now)):  # one ref a call
            pass
        after = self.read().state.runs
        return sorted(key for key, run in after.items() if run.retry_number > before[key].retry_number)

    def suspend(self, installation_id: int, now: int, *, suspended: bool) -> None:
        state = InstallationState(
            installation_id=installation_id,
            account_login="acme",
            account_id=installation_id,
            suspended=suspended,
            removed=False,
            observed_at=at(now),
        )
        assert self._loop.run(put_installation(self._app, state))

    def resume(self, installation_id: int, now: int) -> None:
        self._row("SELECT boardreadyops_resume_installation($1,100,$2)", installation_id, at(now))

    def _count(self, sql: str, *arguments: Any) -> int:
        count: int = self._row(sql, *arguments)[0]
        return count

    def heartbeat(self, attempt: AttemptKey, stage: str, now: int) -> Beat:
        row = self._row(
            "SELECT * FROM boardreadyops_heartbeat_runner_lease($1,$2,$3,$4,$5)",
            self.picture.lease_ids[attempt],
            stage,
            10,
            "",
            at(now),
        )
        if row["directive"] == "stop":  # the seconds of an ended lease mean nothing
            return Beat(row["lease_state"], row["directive"], 0, 0)
        return Beat(
            row["lease_state"],
            row["directive"],
            row["expires_in_seconds"],
            row["maximum_expires_in_seconds"],
        )

    def record_result(self, report: Report, now: int) -> str:
        retry_id = self.picture.retry_ids.get((report.run, report.retry_number), NO_ID)
        row = self._row(
            "SELECT * FROM boardreadyops_record_runner_result($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)",
            self.picture.run_ids[report.run],
            self.picture.attempt_ids[report.attempt],
            retry_id,
            None,
            bytes.fromhex(report.digest),
            report.status,
            report.decision,
            "",
            0,
            0,
            {},
            at(now),
        )
        outcome: str = row["result_outcome"]
        return outcome

    def transition(self, wish: Wish, now: int) -> Transition:
        attempt = None if wish.attempt is None else self.picture.attempt_ids[wish.attempt]
        return Transition(
            *self._row(
                "SELECT * FROM boardreadyops_transition_release_run_state($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)",
                self.picture.run_ids[wish.run],
                wish.run_status,
                wish.run_version,
                attempt,
                wish.next_run_status,
                wish.reason,
                at(now),
                wish.attempt_status,
                wish.attempt_version,
                wish.next_attempt_status,
            )
        )
