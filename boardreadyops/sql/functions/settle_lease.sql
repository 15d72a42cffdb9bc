-- Purpose: keeps the current attempt's active lease true after a change: closes it with its run, else advances the lifecycle
--          snapshot it is bound to. An attempt never ends while its run is running.
-- Outcomes: at most one lease changed.
-- Locks: the lease, after run and attempt. Writes: runner_leases.
-- Internal: called only by guarded functions, which hold run and attempt.
CREATE OR REPLACE FUNCTION boardreadyops_settle_lease(
    p_run release_runs, p_attempt release_run_attempts) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE runner_leases SET
        state = CASE WHEN p_run.finished_at IS NOT NULL THEN p_run.status ELSE state END,
        ended_at = p_run.finished_at,
        expected_run_status = p_run.status,
        expected_run_version = p_run.version,
        expected_attempt_status = p_attempt.status,
        expected_attempt_version = p_attempt.version
    WHERE execution_attempt_id = p_attempt.id AND state = 'active';
END
$$;
