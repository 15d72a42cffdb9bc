-- Purpose: marks a claimed dispatch as started, in a commit of its own before the one POST that an attempt ever gets; and
--          says what to send.
-- Outcomes, in this order: not_found | stale (another claim has the row, or it is settled) | started (an earlier claim may
--   have sent it: look it up, do not send; of an ended attempt, too, whose workflow run is to be cancelled) | ended (the
--   attempt no longer waits for its dispatch: the row is settled) | begun: send it now. A repeat answers started.
-- Locks: run -> attempt -> outbox. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_begin_workflow_dispatch(
    p_effect_id bigint, p_generation bigint, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (dispatch_outcome text, release_run_id uuid, execution_attempt_id uuid, commit_sha text,
               started_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_effect outbox;
    v_outcome text;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = (SELECT effect.release_run_id FROM outbox AS effect
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::uuid, NULL::uuid, NULL::text, NULL::timestamptz;
        RETURN;
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts AS attempt WHERE attempt.id =
        (SELECT effect.execution_attempt_id FROM outbox AS effect WHERE effect.id = p_effect_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_effect FROM outbox AS effect WHERE effect.id = p_effect_id FOR NO KEY UPDATE;
    v_outcome := CASE
        WHEN v_effect.generation IS DISTINCT FROM p_generation OR v_effect.settled_at IS NOT NULL THEN 'stale'
        WHEN v_effect.started_at IS NOT NULL THEN 'started'
        -- An attempt ends with its run, so one that waits for its dispatch is the current one of an open run.
        WHEN v_attempt.status <> 'dispatching' THEN 'ended'
        ELSE 'begun' END;
    IF v_outcome IN ('begun', 'ended') THEN
        UPDATE outbox AS effect SET
            started_at = CASE WHEN v_outcome = 'begun' THEN COALESCE(p_now, clock_timestamp()) ELSE effect.started_at END,
            settled_at = CASE WHEN v_outcome = 'ended' THEN COALESCE(p_now, clock_timestamp()) END,
            outcome_code = CASE WHEN v_outcome = 'ended' THEN 'ended' END
        WHERE effect.id = p_effect_id RETURNING * INTO STRICT v_effect;
    END IF;
    RETURN QUERY SELECT v_outcome, v_run.id, v_attempt.id, v_run.commit_sha::text, v_effect.started_at;
END
$$;
