-- 0026 deadlines and workflow reconciliation: what a comparison with GitHub found, kept until it is settled.

CREATE TABLE reconciliation_findings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL REFERENCES repositories (id),
    release_run_id uuid REFERENCES release_runs (id),
    execution_attempt_id uuid REFERENCES release_run_attempts (id),
    outcome_code reason_code NOT NULL,
    found_at timestamptz NOT NULL,
    next_check_at timestamptz,
    settled_at timestamptz,
    CONSTRAINT unsettled_is_due CHECK ((settled_at IS NULL) = (next_check_at IS NOT NULL))
);
CREATE INDEX reconciliation_findings_due ON reconciliation_findings (next_check_at) WHERE settled_at IS NULL;
CREATE INDEX reconciliation_findings_by_run ON reconciliation_findings (release_run_id, id);

--! begin functions/sweep_deadlines.sql
-- Purpose: ends runs whose clock has run out, each with the reason of the clock that ran: approval, queue, start or run.
--          What start and run deadlines conclude is inferred: a genuine result of the same attempt still corrects it.
-- Outcomes: the runs ended, at most p_limit; costs what is due, not what exists. With p_only_run_id only that run, which is
--   how a batch is repeated row by row after a failure.
-- Locks: runs in the order they fell due, skipping locked ones -> attempt -> lease -> outbox/publication.
-- Writes: runs, attempts, events, leases, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_sweep_deadlines(
    p_limit integer, p_only_run_id uuid DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (release_run_id uuid, reason_code text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_run release_runs;
    v_reason text;
BEGIN
    FOR v_run IN SELECT * FROM release_runs AS run
        WHERE run.due_at <= v_now AND (p_only_run_id IS NULL OR run.id = p_only_run_id)
        ORDER BY run.due_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        v_reason := CASE
            WHEN v_run.status = 'queued' AND v_run.approval = 'waiting' THEN 'approval_deadline_exceeded'
            WHEN v_run.status = 'queued' THEN 'queue_deadline_exceeded'
            WHEN v_run.status = 'dispatched' THEN 'start_deadline_exceeded'
            ELSE 'run_deadline_exceeded' END;
        UPDATE release_run_attempts SET inferred = true
            WHERE id = v_run.execution_attempt_id AND finished_at IS NULL AND v_run.status IN ('dispatched', 'running');
        PERFORM boardreadyops_end_release_run(v_run, 'timed_out', v_reason, v_now);
        release_run_id := v_run.id;
        reason_code := v_reason;
        RETURN NEXT;
    END LOOP;
END
$$;
--! end
--! begin functions/list_due.sql
-- Purpose: what a sweep would take now, oldest first, for a sweeper that must find the one row that stops a batch.
-- Outcomes: ids; of runs past their deadline, or of leases to look at.
-- Locks: none. Writes: nothing.
CREATE OR REPLACE FUNCTION boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamptz DEFAULT NULL)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    IF p_sweep = 'deadlines' THEN
        RETURN QUERY SELECT id FROM release_runs WHERE due_at <= v_now ORDER BY due_at LIMIT p_limit;
    ELSIF p_sweep = 'leases' THEN
        RETURN QUERY SELECT id FROM runner_leases WHERE state = 'active' AND next_check_at <= v_now
            ORDER BY next_check_at LIMIT p_limit;
    END IF;
END
$$;
--! end
--! begin functions/settle_silent_workflow.sql
-- Purpose: a workflow ended and no result came. The result may still be under way, so the finding is kept and looked at
--          again; after the grace the run fails, inferred.
-- Outcomes: waiting | applied.
-- Locks: lease, outbox/publication; the caller holds run and attempt, and findings are written by nobody else.
-- Writes: reconciliation_findings, run, attempt, events, publication.
-- Internal: called only by reconcile_workflow_run.
CREATE OR REPLACE FUNCTION boardreadyops_settle_silent_workflow(
    p_run release_runs, p_attempt release_run_attempts, p_grace_seconds integer, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_attempt release_run_attempts := p_attempt;
    v_finding reconciliation_findings;
BEGIN
    SELECT * INTO v_finding FROM reconciliation_findings WHERE release_run_id = p_run.id
        AND execution_attempt_id = p_attempt.id AND outcome_code = 'workflow_ended_without_result'
        AND settled_at IS NULL;
    IF NOT FOUND THEN
        INSERT INTO reconciliation_findings (installation_id, repository_id, release_run_id, execution_attempt_id,
                                             outcome_code, found_at, next_check_at)
        VALUES (p_run.installation_id, p_run.repository_id, p_run.id, p_attempt.id, 'workflow_ended_without_result',
                p_now, p_now + make_interval(secs => p_grace_seconds));
        RETURN 'waiting';
    END IF;
    IF v_finding.next_check_at > p_now THEN
        RETURN 'waiting';
    END IF;

    UPDATE reconciliation_findings SET settled_at = p_now, next_check_at = NULL WHERE id = v_finding.id;
    -- The attempt ends before its run, so that no workflow run is cancelled: this one is over, or made to run again by now.
    v_attempt.inferred := true;
    PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'workflow_reconciled', p_now);
    PERFORM boardreadyops_end_release_run(p_run, 'failed', 'workflow_reconciled', p_now);
    RETURN 'applied';
END
$$;
--! end
--! begin functions/retry_on_github.sql
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
--! end
--! begin functions/reconcile_workflow_run.sql
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
--! end

ALTER TABLE reconciliation_findings ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON reconciliation_findings FOR SELECT TO boardreadyops_app USING (true);
GRANT SELECT ON reconciliation_findings TO boardreadyops_app;
GRANT EXECUTE ON FUNCTION boardreadyops_sweep_deadlines, boardreadyops_list_due, boardreadyops_reconcile_workflow_run
    TO boardreadyops_app;
