-- Purpose: makes the dispatch of a planned attempt due, once: when GitHub shows its check and nobody needs to approve it.
-- Outcomes: at most one dispatch per attempt, ever.
-- Locks: outbox; the caller holds run and attempt. Writes: outbox.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_request_dispatch(
    p_run release_runs, p_attempt release_run_attempts, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, release_run_id,
                        execution_attempt_id, available_at, created_at)
    SELECT 'workflow_dispatch', p_run.installation_id, p_run.repository_id, p_run.ref, p_run.pull_request_number,
           p_run.id, p_attempt.id, p_now, p_now
    WHERE p_attempt.status = 'dispatching' AND p_run.approval <> 'waiting'
    ON CONFLICT (execution_attempt_id) WHERE kind = 'workflow_dispatch' DO NOTHING
$$;
