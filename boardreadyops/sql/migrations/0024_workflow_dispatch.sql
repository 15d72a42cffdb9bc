-- 0024 workflow dispatch: what binds an attempt to a workflow run, and the claim of one-shot effects.

ALTER TABLE release_run_attempts
    ADD COLUMN workflow_run_id bigint CHECK (workflow_run_id > 0),
    ADD COLUMN workflow_run_attempt integer CHECK (workflow_run_attempt > 0);
CREATE UNIQUE INDEX release_run_attempts_by_workflow_run
    ON release_run_attempts (repository_id, workflow_run_id, workflow_run_attempt) WHERE workflow_run_id IS NOT NULL;

--! begin functions/claim_outbox.sql
-- Purpose: leases due one-shot effects to a relay; each claim raises the row's generation, the relay's fence.
-- Outcomes: the claimed rows, oldest first, none if nothing is due; rows another relay is claiming are skipped.
-- Locks: outbox rows only, so that it can never wait for a lifecycle change. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_claim_outbox(
    p_limit integer, p_lease_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (effect_id bigint, generation bigint, kind text, installation_id bigint, repository_id bigint,
               repository_owner text, repository_name text, ref text, pull_request_number integer, send_count integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT effect.id FROM outbox AS effect
        WHERE effect.settled_at IS NULL AND effect.available_at <= v_now
            AND (effect.claimed_until IS NULL OR effect.claimed_until <= v_now)
        ORDER BY effect.available_at, effect.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE outbox AS effect SET
            generation = effect.generation + 1, send_count = effect.send_count + 1,
            claimed_until = v_now + make_interval(secs => p_lease_seconds)
        FROM due WHERE effect.id = due.id RETURNING effect.*
    )
    SELECT claimed.id, claimed.generation, claimed.kind, repository.installation_id, claimed.repository_id,
           repository.owner, repository.name, claimed.ref, claimed.pull_request_number, claimed.send_count
    FROM claimed JOIN repositories AS repository ON repository.id = claimed.repository_id
    ORDER BY claimed.available_at, claimed.id;
END
$$;
--! end
--! begin functions/settle_outbox.sql
-- Purpose: marks a one-shot effect as done, with the code that says how it ended.
-- Outcomes: applied; stale when another claim has the row by now or it is settled; not_found.
-- Locks: the outbox row. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_settle_outbox(
    p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_effect outbox;
BEGIN
    SELECT * INTO v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_effect.settled_at IS NOT NULL OR v_effect.generation IS DISTINCT FROM p_generation THEN
        RETURN 'stale';
    END IF;

    UPDATE outbox SET settled_at = COALESCE(p_now, clock_timestamp()), outcome_code = p_outcome_code,
        claimed_until = NULL WHERE id = p_effect_id;
    RETURN 'applied';
END
$$;
--! end
--! begin functions/defer_outbox.sql
-- Purpose: gives a claimed one-shot effect back, to be tried again after a delay.
-- Outcomes: applied; stale when another claim has the row by now or it is settled; not_found.
-- Locks: the outbox row. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_defer_outbox(
    p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_effect outbox;
BEGIN
    SELECT * INTO v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_effect.settled_at IS NOT NULL OR v_effect.generation IS DISTINCT FROM p_generation THEN
        RETURN 'stale';
    END IF;

    UPDATE outbox SET claimed_until = NULL, last_error = left(p_error, 500),
        available_at = COALESCE(p_now, clock_timestamp()) + make_interval(secs => p_delay_seconds)
    WHERE id = p_effect_id;
    RETURN 'applied';
END
$$;
--! end
GRANT EXECUTE ON FUNCTION boardreadyops_claim_outbox, boardreadyops_settle_outbox, boardreadyops_defer_outbox
    TO boardreadyops_app;
