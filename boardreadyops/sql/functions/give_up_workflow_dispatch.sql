-- Purpose: a dispatch did not work. `refused`: GitHub said no (no workflow file, no permission), so the run fails at once.
--          `silent`: it was started, never answered and cannot be found, so the attempt goes stale and a new one is planned,
--          within the bound on attempts.
-- Outcomes, in this order: not_found | stale (another claim has the row, or it is settled) | invalid (unknown cause) |
--   ended (the attempt no longer waits for its dispatch: the row is settled) | applied.
-- Locks: run -> attempt -> outbox/publication. Writes: attempts, run, events, outbox, publication.
CREATE OR REPLACE FUNCTION boardreadyops_give_up_workflow_dispatch(
    p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_effect outbox;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = (SELECT effect.release_run_id FROM outbox AS effect
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts AS attempt WHERE attempt.id =
        (SELECT effect.execution_attempt_id FROM outbox AS effect WHERE effect.id = p_effect_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF v_effect.generation IS DISTINCT FROM p_generation OR v_effect.settled_at IS NOT NULL THEN
        RETURN 'stale';
    END IF;
    IF COALESCE(p_cause NOT IN ('refused', 'silent'), true) THEN
        RETURN 'invalid';
    END IF;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    UPDATE outbox SET settled_at = v_now, outcome_code = p_cause, claimed_until = NULL WHERE id = p_effect_id;
    IF v_attempt.status <> 'dispatching' OR v_run.status <> 'queued' THEN
        RETURN 'ended';
    END IF;

    IF p_cause = 'refused' THEN
        PERFORM boardreadyops_end_release_run(v_run, 'failed', 'workflow_dispatch_failed', v_now);
    ELSE
        PERFORM boardreadyops_replace_silent_dispatch(v_run, v_attempt, v_now);
    END IF;
    RETURN 'applied';
END
$$;
