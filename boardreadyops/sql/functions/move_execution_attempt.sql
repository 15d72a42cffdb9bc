-- Purpose: the one writer of an attempt's status: raises the version by one and appends the event.
-- Outcomes: the attempt as stored.
-- Locks: none of its own; the caller holds run and attempt. Writes: release_run_attempts, release_run_transition_events.
-- Internal: called only by guarded functions, which check the edge.
CREATE OR REPLACE FUNCTION boardreadyops_move_execution_attempt(
    p_attempt release_run_attempts, p_next_status text, p_reason_code text, p_now timestamptz)
RETURNS release_run_attempts
LANGUAGE plpgsql AS $$
DECLARE
    v_event release_run_transition_events;
    v_attempt release_run_attempts;
BEGIN
    v_event.installation_id := p_attempt.installation_id;
    v_event.repository_id := p_attempt.repository_id;
    v_event.release_run_id := p_attempt.release_run_id;
    v_event.execution_attempt_id := p_attempt.id;
    v_event.entity_type := 'execution_attempt';
    v_event.from_status := p_attempt.status;
    v_event.to_status := p_next_status;
    v_event.from_version := p_attempt.version;
    v_event.to_version := p_attempt.version + 1;
    v_event.reason_code := p_reason_code;
    v_event.occurred_at := p_now;

    UPDATE release_run_attempts SET
        status = p_next_status,
        version = p_attempt.version + 1,
        event_hash = boardreadyops_append_transition_event(v_event, p_attempt.event_hash),
        inferred = p_attempt.inferred,
        finished_at = CASE WHEN p_next_status NOT IN
            ('queued', 'dispatching', 'dispatched', 'in_progress', 'uploading_artifacts', 'reporting') THEN p_now END,
        updated_at = p_now
    WHERE id = p_attempt.id
    RETURNING * INTO STRICT v_attempt;
    RETURN v_attempt;
END
$$;
