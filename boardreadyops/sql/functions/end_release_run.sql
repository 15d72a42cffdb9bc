-- Purpose: ends an open run with everything that hangs on it: its attempt under the same terminal name, its lease, its
--          workflow run, and what its Check Run tells. The caller sets superseded_by or cancelled_by in p_run.
-- Outcomes: the run as stored.
-- Locks: attempt -> lease -> outbox/publication; the caller holds the run.
-- Writes: run, attempt, events, lease, outbox, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_end_release_run(
    p_run release_runs, p_next_status text, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := GREATEST(p_now, p_run.updated_at);
    v_attempt release_run_attempts;
    v_cancelled_workflow_id bigint;
    v_run release_runs;
BEGIN
    SELECT * INTO v_attempt FROM release_run_attempts WHERE id = p_run.execution_attempt_id FOR NO KEY UPDATE;
    IF FOUND AND v_attempt.finished_at IS NULL THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_next_status, p_reason_code, v_now);
        v_cancelled_workflow_id := v_attempt.workflow_run_id;
    END IF;
    v_run := boardreadyops_move_release_run(p_run, p_next_status, p_reason_code, v_now);
    PERFORM boardreadyops_settle_lease(v_run, v_attempt);
    PERFORM boardreadyops_request_workflow_cancel(p_run, v_cancelled_workflow_id, v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN v_run;
END
$$;
