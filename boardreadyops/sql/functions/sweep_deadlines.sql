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
