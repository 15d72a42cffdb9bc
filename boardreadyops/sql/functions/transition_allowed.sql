-- Purpose: whether the general transition may take this edge with this reason.
-- Outcomes: false for a malformed reason, no change at all, an edge that is not in lifecycle_edges, `completed` (only a
--   result completes a run), a terminal run that would leave an open attempt behind, a superseded run without
--   successor, and an attempt that would end alone while its run is running.
-- Locks: none. Writes: nothing.
-- Internal: called only by the general transition.
CREATE OR REPLACE FUNCTION boardreadyops_transition_allowed(
    p_run release_runs, p_attempt release_run_attempts,
    p_next_run_status text, p_next_attempt_status text, p_reason_code text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_open_attempt CONSTANT text[] := ARRAY['queued', 'dispatching', 'dispatched', 'in_progress', 'uploading_artifacts',
                                            'reporting'];
    v_attempt_after text := COALESCE(p_next_attempt_status, p_attempt.status);
BEGIN
    IF COALESCE(p_reason_code !~ '^[a-z0-9]+([._-][a-z0-9]+)*$' OR length(p_reason_code) > 128, true) THEN
        RETURN false;
    END IF;
    IF p_next_run_status IS NULL AND p_next_attempt_status IS NULL THEN
        RETURN false;
    END IF;
    IF p_next_run_status = 'completed' OR p_next_attempt_status = 'completed' THEN
        RETURN false;
    END IF;
    IF p_next_run_status IS NOT NULL AND NOT EXISTS (SELECT FROM lifecycle_edges WHERE entity_type = 'release_run'
        AND from_status = p_run.status AND to_status = p_next_run_status) THEN
        RETURN false;
    END IF;
    IF p_next_attempt_status IS NOT NULL AND NOT EXISTS (SELECT FROM lifecycle_edges
        WHERE entity_type = 'execution_attempt' AND from_status = p_attempt.status AND to_status = p_next_attempt_status)
    THEN
        RETURN false;
    END IF;
    IF p_next_run_status = 'superseded' AND p_run.superseded_by IS NULL THEN
        RETURN false;
    END IF;
    IF p_next_run_status IN ('failed', 'timed_out', 'cancelled', 'superseded')
        AND v_attempt_after = ANY (v_open_attempt) THEN
        RETURN false;
    END IF;
    RETURN NOT (p_next_run_status IS NULL AND p_run.status = 'running' AND v_attempt_after <> ALL (v_open_attempt));
END
$$;
