-- Purpose: the attempt of a silent dispatch goes stale; a new one is planned, or at the bound the run fails. GitHub shows
--          the check already, so the new attempt is ready for its dispatch.
-- Outcomes: the run as stored.
-- Locks: none of its own; the caller holds run, attempt and outbox row. Writes: attempts, run, events, outbox, publication.
-- Internal: called only by give_up_workflow_dispatch.
CREATE OR REPLACE FUNCTION boardreadyops_replace_silent_dispatch(
    p_run release_runs, p_attempt release_run_attempts, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs := p_run;
    v_attempt release_run_attempts := p_attempt;
BEGIN
    v_run.lost_attempts := p_run.lost_attempts + 1;
    IF v_run.lost_attempts >= (SELECT max_execution_attempts FROM deployment_settings) THEN
        v_attempt.inferred := true;
        PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'runner_attempts_exhausted', p_now);
        RETURN boardreadyops_end_release_run(v_run, 'failed', 'runner_attempts_exhausted', p_now);
    END IF;

    PERFORM boardreadyops_move_execution_attempt(p_attempt, 'stale', 'workflow_dispatch_failed', p_now);
    v_run.execution_attempt_id := boardreadyops_plan_attempt(v_run, p_now);
    v_run := boardreadyops_move_release_run(v_run, 'queued', 'workflow_dispatch_failed', p_now);
    SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = v_run.execution_attempt_id;
    v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'dispatching', 'check_run_created', p_now);
    PERFORM boardreadyops_request_dispatch(v_run, v_attempt, p_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN v_run;
END
$$;
