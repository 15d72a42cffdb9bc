-- Purpose: gives a run that a workflow will execute its planned attempt (queued, version 0); a runner's attempt is made by
--          its claim.
-- Outcomes: the attempt's id, null for a runner-executed run.
-- Locks: none of its own; the caller holds the run. Writes: release_run_attempts.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_plan_attempt(p_run release_runs, p_now timestamptz) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    v_attempt_id uuid;
BEGIN
    IF p_run.execution_backend = 'runner' THEN
        RETURN NULL;
    END IF;
    INSERT INTO release_run_attempts (installation_id, repository_id, release_run_id, number, retry_id, status,
                                      created_at, updated_at)
    SELECT p_run.installation_id, p_run.repository_id, p_run.id, COALESCE(max(number), 0) + 1, p_run.retry_id, 'queued',
           p_now, p_now
    FROM release_run_attempts WHERE release_run_id = p_run.id
    RETURNING id INTO STRICT v_attempt_id;
    RETURN v_attempt_id;
END
$$;
