-- Purpose: a lease is over and its run is not: attempt and lease end, the run goes back to the queue; or, when it has been
--          lost or given back too often, it fails. The caller has raised lost_attempts or given_back in p_run.
-- Outcomes: the run as stored: queued, or failed with runner_attempts_exhausted.
-- Locks: none of its own; the caller holds run, attempt and lease. Writes: run, attempt, events, lease, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_give_back_run(
    p_run release_runs, p_attempt release_run_attempts, p_attempt_status text, p_lease_id uuid, p_lease_state text,
    p_reason_code text, p_delay_seconds integer, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_given_back_limit CONSTANT integer := 20;
    v_run release_runs := p_run;
    v_attempt release_run_attempts := p_attempt;
BEGIN
    UPDATE runner_leases SET state = p_lease_state, ended_at = p_now WHERE id = p_lease_id;
    IF v_run.lost_attempts >= (SELECT max_execution_attempts FROM deployment_settings)
        OR v_run.given_back >= v_given_back_limit THEN
        v_attempt.inferred := true;
        PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'runner_attempts_exhausted', p_now);
        v_run := boardreadyops_move_release_run(v_run, 'failed', 'runner_attempts_exhausted', p_now);
    ELSE
        PERFORM boardreadyops_move_execution_attempt(v_attempt, p_attempt_status, p_reason_code, p_now);
        v_run.queued_at := p_now + make_interval(secs => p_delay_seconds);
        v_run := boardreadyops_move_release_run(v_run, 'queued', p_reason_code, p_now);
    END IF;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN v_run;
END
$$;
