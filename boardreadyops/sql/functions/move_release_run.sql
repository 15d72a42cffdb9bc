-- Purpose: the one writer of a run's status: raises the version by one, appends the event, re-arms the clock, and
--          stores the other lifecycle columns as the caller set them in p_run.
-- Outcomes: the run as stored.
-- Locks: none of its own; the caller holds the run. Writes: release_runs, release_run_transition_events.
-- Internal: called only by guarded functions, which check the edge.
CREATE OR REPLACE FUNCTION boardreadyops_move_release_run(
    p_run release_runs, p_next_status text, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_event release_run_transition_events;
    v_run release_runs;
BEGIN
    v_event.installation_id := p_run.installation_id;
    v_event.repository_id := p_run.repository_id;
    v_event.release_run_id := p_run.id;
    v_event.execution_attempt_id := p_run.execution_attempt_id;
    v_event.entity_type := 'release_run';
    v_event.from_status := p_run.status;
    v_event.to_status := p_next_status;
    v_event.from_version := p_run.version;
    v_event.to_version := p_run.version + 1;
    v_event.reason_code := p_reason_code;
    v_event.occurred_at := p_now;

    UPDATE release_runs SET
        status = p_next_status,
        version = p_run.version + 1,
        event_hash = boardreadyops_append_transition_event(v_event, p_run.event_hash),
        reason_code = p_reason_code,
        decision = p_run.decision,
        execution_attempt_id = p_run.execution_attempt_id,
        retry_id = p_run.retry_id,
        retry_number = p_run.retry_number,
        superseded_by = p_run.superseded_by,
        cancelled_by = p_run.cancelled_by,
        lost_attempts = p_run.lost_attempts,
        given_back = p_run.given_back,
        needs = p_run.needs,
        due_at = boardreadyops_due_at(p_run.installation_id, p_next_status, p_run.approval, p_now),
        queued_at = CASE WHEN p_next_status = 'queued' THEN GREATEST(p_now, p_run.queued_at) ELSE p_run.queued_at END,
        finished_at = CASE WHEN p_next_status NOT IN ('queued', 'dispatched', 'running') THEN p_now END,
        updated_at = p_now
    WHERE id = p_run.id
    RETURNING * INTO STRICT v_run;
    RETURN v_run;
END
$$;
