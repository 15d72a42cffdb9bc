-- Purpose: the general guarded transition of a run and, if named, its current attempt, in one transaction.
-- Outcomes, in this order: not_found (no such run, or the named attempt is none of its attempts) -> stale (an expected
--   status, version or pointer no longer matches) -> invalid_transition (edge or metadata not allowed) -> applied.
--   Anything but applied writes nothing. Not idempotent: a repeat of an applied call answers stale.
-- Locks: run -> attempt -> lease -> publication.
-- Writes: run, attempt, events; closes the lease of an ended run; raises the publication.
CREATE OR REPLACE FUNCTION boardreadyops_transition_release_run_state(
    p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint,
    p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text,
    p_now timestamptz DEFAULT NULL, p_expected_attempt_status text DEFAULT NULL,
    p_expected_attempt_version bigint DEFAULT NULL, p_next_attempt_status text DEFAULT NULL)
RETURNS TABLE (transition_outcome text, run_status text, run_version bigint, attempt_status text, attempt_version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs WHERE id = p_release_run_id FOR NO KEY UPDATE;
    IF FOUND AND p_expected_execution_attempt_id IS NOT NULL THEN
        SELECT * INTO v_attempt FROM release_run_attempts
            WHERE id = p_expected_execution_attempt_id AND release_run_id = p_release_run_id FOR NO KEY UPDATE;
    END IF;
    IF v_run.id IS NULL OR (p_expected_execution_attempt_id IS NOT NULL AND v_attempt.id IS NULL) THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::text, NULL::bigint, NULL::text, NULL::bigint;
        RETURN;
    END IF;
    IF v_run.status IS DISTINCT FROM p_expected_run_status OR v_run.version IS DISTINCT FROM p_expected_run_version
        OR v_run.execution_attempt_id IS DISTINCT FROM p_expected_execution_attempt_id
        OR (COALESCE(p_next_attempt_status, p_expected_attempt_status) IS NOT NULL
            AND v_attempt.status IS DISTINCT FROM p_expected_attempt_status)
        OR (COALESCE(p_next_attempt_status, p_expected_attempt_version::text) IS NOT NULL
            AND v_attempt.version IS DISTINCT FROM p_expected_attempt_version) THEN
        RETURN QUERY SELECT 'stale'::text, v_run.status::text, v_run.version::bigint,
            v_attempt.status::text, v_attempt.version::bigint;
        RETURN;
    END IF;
    IF NOT boardreadyops_transition_allowed(v_run, v_attempt, p_next_run_status, p_next_attempt_status, p_reason_code) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, v_run.status::text, v_run.version::bigint,
            v_attempt.status::text, v_attempt.version::bigint;
        RETURN;
    END IF;

    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at);
    IF p_next_attempt_status IS NOT NULL THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_next_attempt_status, p_reason_code, v_now);
    END IF;
    IF p_next_run_status IS NOT NULL THEN
        v_run := boardreadyops_move_release_run(v_run, p_next_run_status, p_reason_code, v_now);
    END IF;
    PERFORM boardreadyops_settle_lease(v_run, v_attempt);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'applied'::text, v_run.status::text, v_run.version::bigint,
        v_attempt.status::text, v_attempt.version::bigint;
END
$$;
