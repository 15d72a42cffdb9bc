-- Purpose: GitHub answered a dispatch, or a look-up found it. The workflow run's id (null when GitHub gave none) and attempt
--          (null: the first) are stored always, whoever holds the row by now; if the attempt has ended meanwhile its
--          workflow run is cancelled, unless it told its result already.
-- Outcomes, in this order: not_found | conflict (another workflow run is bound; this one is to be cancelled) | ended |
--   existing (both dispatched before, or further) | applied: attempt dispatching -> dispatched, run queued -> dispatched.
--   Safe to repeat.
-- Locks: run -> attempt -> outbox/publication. Writes: attempt, run, events, outbox, publication.
CREATE OR REPLACE FUNCTION boardreadyops_acknowledge_workflow_dispatch(
    p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamptz DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = (SELECT effect.release_run_id FROM outbox AS effect
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts AS attempt WHERE attempt.id =
        (SELECT effect.execution_attempt_id FROM outbox AS effect WHERE effect.id = p_effect_id) FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF p_workflow_run_id IS NOT NULL AND boardreadyops_bind_workflow_run(
        v_run, v_attempt, p_workflow_run_id, COALESCE(p_workflow_run_attempt, 1), v_now) = 'conflict' THEN
        RETURN 'conflict';
    END IF;
    UPDATE outbox SET settled_at = v_now, outcome_code = 'dispatched', claimed_until = NULL
        WHERE id = p_effect_id AND settled_at IS NULL;
    IF v_attempt.finished_at IS NOT NULL THEN
        PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now)
            WHERE NOT EXISTS (SELECT FROM runner_results AS told WHERE told.execution_attempt_id = v_attempt.id);
        RETURN 'ended';
    END IF;
    RETURN boardreadyops_advance_workflow(v_run, v_attempt, 'dispatched', v_now);
END
$$;
