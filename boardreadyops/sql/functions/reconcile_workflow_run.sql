-- Purpose: what GitHub says about a workflow run, from an event, a look-up or a signed token. The attempt is the one bound
--          to (workflow run, attempt of it), or the one that the run-name names. In progress moves attempt and run; a higher
--          attempt of a bound workflow run is a retry made on GitHub; a workflow that ended without telling its result
--          fails the run after p_grace_seconds, inferred, so that the genuine result still corrects it.
-- Outcomes, in this order: not_found (no attempt of this repository that a workflow executes) | ended (word of an earlier
--   attempt of the workflow run) | retried | conflict (another workflow run is bound) | ended (the attempt is over or not
--   current: a workflow run that goes on is cancelled, unless it told its result) | applied | waiting (in grace) | existing.
-- Locks: for a retry made on GitHub installation, repository (shared) -> ref; run -> attempt -> lease -> outbox/publication.
-- Writes: runs, attempts, events, outbox, publications, reconciliation_findings.
CREATE OR REPLACE FUNCTION boardreadyops_reconcile_workflow_run(
    p_repository_id bigint, p_execution_attempt_id uuid, p_workflow_run_id bigint, p_workflow_run_attempt integer,
    p_workflow_status text, p_grace_seconds integer, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_found release_run_attempts;
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_found FROM release_run_attempts WHERE repository_id = p_repository_id
        AND (workflow_run_id = p_workflow_run_id OR id = p_execution_attempt_id)
        ORDER BY workflow_run_id = p_workflow_run_id DESC NULLS LAST, workflow_run_attempt DESC LIMIT 1;
    IF p_workflow_run_attempt > 1 THEN
        PERFORM boardreadyops_lock_tenant(v_found.installation_id, p_repository_id);
        PERFORM FROM refs WHERE repository_id = p_repository_id
            AND ref = (SELECT run.ref FROM release_runs AS run WHERE run.id = v_found.release_run_id) FOR NO KEY UPDATE;
    END IF;
    SELECT * INTO v_run FROM release_runs
        WHERE id = v_found.release_run_id AND execution_backend = 'actions' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = v_found.id FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF v_attempt.workflow_run_id = p_workflow_run_id AND v_attempt.workflow_run_attempt > p_workflow_run_attempt THEN
        RETURN 'ended';
    END IF;
    IF v_attempt.workflow_run_id = p_workflow_run_id AND v_attempt.workflow_run_attempt < p_workflow_run_attempt THEN
        IF v_run.finished_at IS NULL AND v_run.execution_attempt_id <> v_attempt.id AND p_workflow_status <> 'completed' THEN
            PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now);
        END IF;
        RETURN boardreadyops_retry_on_github(v_run, p_workflow_run_id, p_workflow_run_attempt, v_now);
    END IF;
    IF boardreadyops_bind_workflow_run(v_run, v_attempt, p_workflow_run_id, p_workflow_run_attempt, v_now) = 'conflict' THEN
        RETURN 'conflict';
    END IF;
    IF v_attempt.finished_at IS NOT NULL OR v_run.execution_attempt_id IS DISTINCT FROM v_attempt.id THEN
        PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now) WHERE p_workflow_status <> 'completed'
            AND NOT EXISTS (SELECT FROM runner_results AS told WHERE told.execution_attempt_id = v_attempt.id);
        UPDATE reconciliation_findings SET settled_at = v_now, next_check_at = NULL WHERE release_run_id = v_run.id
            AND execution_attempt_id = v_attempt.id AND settled_at IS NULL;
        RETURN 'ended';
    END IF;
    IF p_workflow_status = 'completed' THEN
        RETURN boardreadyops_settle_silent_workflow(v_run, v_attempt, p_grace_seconds, v_now);
    END IF;
    IF p_workflow_status <> 'in_progress' OR v_attempt.status = 'queued' THEN
        RETURN 'existing';
    END IF;
    RETURN boardreadyops_advance_workflow(v_run, v_attempt, 'in_progress', v_now);
END
$$;
