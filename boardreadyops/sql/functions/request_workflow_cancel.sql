-- Purpose: asks the relay to cancel a workflow run on GitHub whose attempt is over, or which was never ours to start.
-- Outcomes: at most one open request per workflow run, however often it is asked.
-- Locks: outbox. Writes: outbox.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_request_workflow_cancel(
    p_run release_runs, p_workflow_run_id bigint, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, release_run_id, workflow_run_id,
                        available_at, created_at)
    SELECT 'workflow_cancel', p_run.installation_id, p_run.repository_id, p_run.ref, p_run.pull_request_number,
           p_run.id, p_workflow_run_id, p_now, p_now
    WHERE p_workflow_run_id IS NOT NULL
    ON CONFLICT (repository_id, workflow_run_id) WHERE kind = 'workflow_cancel' AND settled_at IS NULL DO NOTHING
$$;
