-- Purpose: whether run and attempt are still where the lease's lifecycle snapshot left them. A lease that drifted fails closed:
--          it may end, and moves nothing else.
-- Outcomes: false when the run points elsewhere, or a status or version differs.
-- Locks: none; the caller holds all three. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_lease_holds(
    p_run release_runs, p_attempt release_run_attempts, p_lease runner_leases) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT (p_run.execution_attempt_id, p_run.status, p_run.version, p_attempt.status, p_attempt.version)
        IS NOT DISTINCT FROM (p_attempt.id, p_lease.expected_run_status, p_lease.expected_run_version,
                              p_lease.expected_attempt_status, p_lease.expected_attempt_version)
$$;
