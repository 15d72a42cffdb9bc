-- Purpose: binds an attempt to the workflow run that executes it. The first to say so wins, whether the dispatch's answer,
--          a run-name or a signed token; another workflow run is refused and its cancellation asked for.
-- Outcomes: bound | existing (the same) | conflict.
-- Locks: outbox for a cancellation; the caller holds run and attempt. Writes: release_run_attempts, outbox.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_bind_workflow_run(
    p_run release_runs, p_attempt release_run_attempts, p_workflow_run_id bigint, p_workflow_run_attempt integer,
    p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF p_attempt.workflow_run_id = p_workflow_run_id THEN
        RETURN 'existing';
    END IF;
    IF p_attempt.workflow_run_id IS NOT NULL OR EXISTS (SELECT FROM release_run_attempts AS other
        WHERE other.repository_id = p_run.repository_id AND other.workflow_run_id = p_workflow_run_id
            AND other.workflow_run_attempt = p_workflow_run_attempt) THEN
        PERFORM boardreadyops_request_workflow_cancel(p_run, p_workflow_run_id, p_now);
        RETURN 'conflict';
    END IF;

    UPDATE release_run_attempts SET workflow_run_id = p_workflow_run_id, workflow_run_attempt = p_workflow_run_attempt
        WHERE id = p_attempt.id;
    RETURN 'bound';
END
$$;
