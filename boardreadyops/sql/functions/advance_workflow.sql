-- Purpose: attempt and run come as far as GitHub's word on their workflow run says, `dispatched` or `in_progress`; whichever
--          is there already, or further, stays.
-- Outcomes: existing (both are) | applied.
-- Locks: publication; the caller holds run and attempt. Writes: attempt, run, events, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_advance_workflow(
    p_run release_runs, p_attempt release_run_attempts, p_attempt_status text, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_attempt release_run_attempts := p_attempt;
    v_run release_runs := p_run;
BEGIN
    IF v_attempt.status = 'dispatching' THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'dispatched', 'workflow_dispatched', p_now);
    END IF;
    IF p_attempt_status = 'in_progress' AND v_attempt.status = 'dispatched' THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'in_progress', 'workflow_reconciled', p_now);
    END IF;
    IF p_attempt_status = 'dispatched' AND v_run.status = 'queued' THEN
        v_run := boardreadyops_move_release_run(v_run, 'dispatched', 'workflow_dispatched', p_now);
    ELSIF p_attempt_status = 'in_progress' AND v_run.status IN ('queued', 'dispatched') THEN
        v_run := boardreadyops_move_release_run(v_run, 'running', 'workflow_reconciled', p_now);
    END IF;
    IF (v_run.version, v_attempt.version) IS NOT DISTINCT FROM (p_run.version, p_attempt.version) THEN
        RETURN 'existing';
    END IF;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN 'applied';
END
$$;
