-- Purpose: a heartbeat told a later stage. uploading_artifacts and reporting move the attempt once (runner_lease_heartbeat);
--          every later stage is something a person sees, so the publication is raised. Drift of run, attempt or pointer
--          from the lease's snapshot fails closed: nothing is changed.
-- Outcomes: true when the stage was advanced.
-- Locks: run -> attempt -> lease -> publication. Writes: attempt, event, lease, publication.
-- Internal: called only by heartbeat_runner_lease.
CREATE OR REPLACE FUNCTION boardreadyops_advance_lease_stage(
    p_lease runner_leases, p_stage text, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
BEGIN
    SELECT * INTO STRICT v_run FROM release_runs WHERE id = p_lease.release_run_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = p_lease.execution_attempt_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease.id FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF v_lease.state <> 'active' OR v_lease.maximum_expires_at <= v_now OR v_lease.stage IS DISTINCT FROM p_lease.stage
        OR NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
        RETURN false;
    END IF;

    IF p_stage IN ('uploading_artifacts', 'reporting') AND v_attempt.status IS DISTINCT FROM p_stage THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_stage, 'runner_lease_heartbeat', v_now);
    END IF;
    UPDATE runner_leases SET stage = p_stage WHERE id = v_lease.id;
    PERFORM boardreadyops_settle_lease(v_run, v_attempt, v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN true;
END
$$;
