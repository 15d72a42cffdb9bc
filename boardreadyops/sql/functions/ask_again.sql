-- Purpose: asks a terminal run anew: a new retry with a new Check Run; decision, successor and attempt are cleared,
--          attempts counted anew.
-- Outcomes: the run as stored, queued.
-- Locks: publication; the caller holds ref and run. Writes: run, planned attempt, event, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_ask_again(
    p_run release_runs, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := GREATEST(p_now, p_run.updated_at);
    v_run release_runs := p_run;
BEGIN
    v_run.retry_id := gen_random_uuid();
    v_run.retry_number := p_run.retry_number + 1;
    v_run.decision := NULL;
    v_run.superseded_by := NULL;
    v_run.cancelled_by := NULL;
    v_run.lost_attempts := 0;
    v_run.given_back := 0;
    v_run.execution_attempt_id := boardreadyops_plan_attempt(v_run, v_now);
    v_run := boardreadyops_move_release_run(v_run, 'queued', p_reason_code, v_now);
    PERFORM boardreadyops_open_publication(v_run, v_now);
    RETURN v_run;
END
$$;
