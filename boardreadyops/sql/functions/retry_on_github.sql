-- Purpose: someone pressed re-run in the Actions tab: the terminal run is asked again and is already running; no dispatch.
-- Outcomes: retried | existing (the run is open: its own attempt goes on; the caller cancels an older workflow) | ended
--   (the run is no longer the head of an open ref of an enabled tenant, so the workflow run is cancelled).
-- Locks: outbox/publication; the caller holds installation and repository (shared), ref, run and attempt.
-- Writes: ref, run, attempt, events, publication, outbox.
-- Internal: called only by reconcile_workflow_run.
CREATE OR REPLACE FUNCTION boardreadyops_retry_on_github(
    p_run release_runs, p_workflow_run_id bigint, p_workflow_run_attempt integer,
    p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
BEGIN
    IF p_run.finished_at IS NULL THEN
        RETURN 'existing';
    END IF;
    IF boardreadyops_lock_tenant(p_run.installation_id, p_run.repository_id) IS NOT TRUE
        OR NOT EXISTS (SELECT FROM refs WHERE repository_id = p_run.repository_id AND ref = p_run.ref AND open
            AND head_sha = p_run.commit_sha) THEN
        PERFORM boardreadyops_request_workflow_cancel(p_run, p_workflow_run_id, p_now);
        RETURN 'ended';
    END IF;

    v_run := boardreadyops_ask_again(p_run, 'retry_requested', p_now);
    -- The head's run it is already; written, so that a repeatable read that opens another run fails instead.
    UPDATE refs SET release_run_id = p_run.id WHERE repository_id = p_run.repository_id AND ref = p_run.ref;
    UPDATE release_run_attempts SET status = 'in_progress', workflow_run_id = p_workflow_run_id,
        workflow_run_attempt = p_workflow_run_attempt WHERE id = v_run.execution_attempt_id;
    v_run := boardreadyops_move_release_run(v_run, 'running', 'workflow_reconciled', p_now);
    -- Owed since its earlier attempt ended, and not sent: it would end this one.
    UPDATE outbox SET settled_at = p_now, outcome_code = 'retried', claimed_until = NULL
        WHERE repository_id = p_run.repository_id AND workflow_run_id = p_workflow_run_id
            AND kind = 'workflow_cancel' AND settled_at IS NULL;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN 'retried';
END
$$;
