"""The adapter's half that the relay and the reconciler speak to."""

from __future__ import annotations

from tests.model.dispatching import Workflow
from tests.model.publishing import Sent
from tests.model.rows import AttemptKey, EffectKey, PublicationKey
from tests.model.session import Session, at


class GitHubAdapter(Session):
    """Publications, verifications, one-shot effects and workflow runs."""

    def claim_publications(self, lease_seconds: int, doubt_seconds: int, now: int) -> list[Sent]:
        sql = "SELECT * FROM boardreadyops_claim_publications(100,$1,$2,$3)"
        rows = self._rows(sql, lease_seconds, doubt_seconds, at(now))
        keys = self.picture.keys
        return [
            Sent(
                PublicationKey(keys[row["release_run_id"]], row["retry_number"], row["ordinal"]),
                row["generation"],
                row["seq"],
                row["doubtful"],
                row["payload"]["status"],
            )
            for row in rows
        ]

    def record_check_run(self, key: PublicationKey, generation: int, check_run_id: int, now: int) -> str:
        id = self.picture.publication_ids[key]
        return str(
            self._row(
                "SELECT boardreadyops_record_check_run($1,$2,$3,$4)", id, generation, check_run_id, at(now)
            )[0]
        )

    def acknowledge(self, key: PublicationKey, generation: int, seq: int, now: int) -> str:
        id = self.picture.publication_ids[key]
        return str(
            self._row(
                "SELECT boardreadyops_acknowledge_publication($1,$2,$3,$4)", id, generation, seq, at(now)
            )[0]
        )

    def defer(
        self, key: PublicationKey, generation: int, error_class: str, delay_seconds: int, now: int
    ) -> str:
        row = self._row(
            "SELECT boardreadyops_defer_publication($1,$2,$3,$4,$5,$6)",
            self.picture.publication_ids[key],
            generation,
            error_class,
            "",
            delay_seconds,
            at(now),
        )
        return str(row[0])

    def claim_verifications(self, now: int) -> list[tuple[PublicationKey, int]]:
        rows = self._rows("SELECT * FROM boardreadyops_claim_verifications(100,30,$1)", at(now))
        keys = {id: key for key, id in self.picture.publication_ids.items()}
        return [(keys[row["publication_id"]], row["seq"]) for row in rows]

    def record_verification(self, key: PublicationKey, seq: int, finding: str, now: int) -> str:
        id = self.picture.publication_ids[key]
        return str(
            self._row("SELECT boardreadyops_record_verification($1,$2,$3,$4)", id, seq, finding, at(now))[0]
        )

    def claim_effects(self, lease_seconds: int, now: int) -> list[tuple[EffectKey, int]]:
        rows = self._rows("SELECT * FROM boardreadyops_claim_outbox(100,$1,$2)", lease_seconds, at(now))
        keys = {id: key for key, id in self.read().effect_ids.items()}
        return [(keys[row["effect_id"]], row["generation"]) for row in rows]

    def settle_effect(self, key: EffectKey, generation: int, now: int) -> str:
        id = self.picture.effect_ids[key]
        return str(
            self._row("SELECT boardreadyops_settle_outbox($1,$2,'done',$3)", id, generation, at(now))[0]
        )

    def defer_effect(self, key: EffectKey, generation: int, delay_seconds: int, now: int) -> str:
        id = self.picture.effect_ids[key]
        sql = "SELECT boardreadyops_defer_outbox($1,$2,'away',$3,$4)"
        return str(self._row(sql, id, generation, delay_seconds, at(now))[0])

    def begin(self, key: EffectKey, generation: int, now: int) -> str:
        id = self.picture.effect_ids[key]
        sql = "SELECT dispatch_outcome FROM boardreadyops_begin_workflow_dispatch($1,$2,$3)"
        return str(self._row(sql, id, generation, at(now))[0])

    def acknowledge_dispatch(self, key: EffectKey, workflow: Workflow | None, now: int) -> str:
        id = self.picture.effect_ids[key]
        run_id, run_attempt = (None, None) if workflow is None else workflow
        sql = "SELECT boardreadyops_acknowledge_workflow_dispatch($1,$2,$3,$4)"
        return str(self._row(sql, id, run_id, run_attempt, at(now))[0])

    def give_up(self, key: EffectKey, generation: int, cause: str, now: int) -> str:
        id = self.picture.effect_ids[key]
        sql = "SELECT boardreadyops_give_up_workflow_dispatch($1,$2,$3,$4)"
        return str(self._row(sql, id, generation, cause, at(now))[0])

    def reconcile(
        self,
        repository_id: int,
        attempt: AttemptKey | None,
        workflow: Workflow,
        workflow_status: str,
        grace_seconds: int,
        now: int,
    ) -> str:
        id = None if attempt is None else self.picture.attempt_ids[attempt]
        sql = "SELECT boardreadyops_reconcile_workflow_run($1,$2,$3,$4,$5,$6,$7)"
        return str(self._row(sql, repository_id, id, *workflow, workflow_status, grace_seconds, at(now))[0])
