-- Purpose: GitHub answered a dispatch, or a look-up found it. The workflow run's id (null when GitHub gave none) and attempt
--          (null: the first) are stored always, whoever holds the row by now; if the attempt has ended meanwhile its workflow run is cancelled.
-- Outcomes, in this order: not_found | conflict (another workflow run is bound; this one is to be cancelled) | ended |
--   existing (dispatched before, or further) | applied: attempt dispatching -> dispatched, run queued -> dispatched.
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
    SELECT run.* INTO v_run FROM release_runs AS run JOIN outbox AS effect ON effect.release_run_id = run.id
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch' FOR NO KEY UPDATE OF run;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT attempt.* INTO STRICT v_attempt FROM release_run_attempts AS attempt JOIN outbox AS effect
        ON effect.execution_attempt_id = attempt.id WHERE effect.id = p_effect_id FOR NO KEY UPDATE OF attempt;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF p_workflow_run_id IS NOT NULL AND boardreadyops_bind_workflow_run(
        v_run, v_attempt, p_workflow_run_id, COALESCE(p_workflow_run_attempt, 1), v_now) = 'conflict' THEN
        RETURN 'conflict';
    END IF;
    UPDATE outbox SET settled_at = v_now, outcome_code = 'dispatched', claimed_until = NULL
        WHERE id = p_effect_id AND settled_at IS NULL;
    IF v_attempt.finished_at IS NOT NULL THEN
        PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now);
        RETURN 'ended';
    END IF;
    IF v_attempt.status <> 'dispatching' OR v_run.status <> 'queued' THEN
        RETURN 'existing';
    END IF;

    PERFORM boardreadyops_move_execution_attempt(v_attempt, 'dispatched', 'workflow_dispatched', v_now);
    v_run := boardreadyops_move_release_run(v_run, 'dispatched', 'workflow_dispatched', v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN 'applied';
END
$$;
