-- Purpose: the facts that a Check Run tells about a run, frozen at one moment. Words are made from them by the relay.
-- Outcomes: one JSON object; see boardreadyops/domain/verdict.py for its keys.
-- Locks: none. Writes: nothing.
-- Internal: called only by guarded functions, which hold the run.
CREATE OR REPLACE FUNCTION boardreadyops_publication_payload(p_run release_runs) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN jsonb_build_object(
        'status', p_run.status,
        'reason_code', p_run.reason_code,
        'decision', p_run.decision,
        'approval', p_run.approval,
        'cancelled_by', p_run.cancelled_by,
        'superseded_by', p_run.superseded_by,
        'execution_attempt_id', p_run.execution_attempt_id,
        'queued_at', p_run.queued_at,
        'finished_at', p_run.finished_at,
        'needs', p_run.needs,
        'stage', CASE WHEN p_run.status = 'running' THEN
            (SELECT lease.stage FROM runner_leases AS lease
             WHERE lease.execution_attempt_id = p_run.execution_attempt_id AND lease.state = 'active') END);
END
$$;
