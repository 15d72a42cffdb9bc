-- Purpose: takes a runner's result for one attempt and, when that attempt still speaks for the run, ends the run with it.
-- Outcomes, in this order: not_found (no such run, or the attempt is none of its) | invalid_transition (status and
--   decision do not go together) | replayed (this attempt's accepted result had the same digest) | conflict (it had other
--   content) | late (the attempt does not speak for the run: not dispatched yet, or over) | accepted. conflict and late are kept in the audit, once
--   per digest, and change nothing else. An inferred failure is corrected by the genuine result of the same attempt.
-- Locks: run -> attempt -> lease -> publication.
-- Writes: runner_results, run, attempt, events, lease, publication; or runner_result_audit alone.
CREATE OR REPLACE FUNCTION boardreadyops_record_runner_result(
    p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea,
    p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (result_outcome text, audit_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_accepted_digest bytea;
    v_refusal text;
    v_reason text;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs WHERE id = p_release_run_id FOR NO KEY UPDATE;
    SELECT * INTO v_attempt FROM release_run_attempts
        WHERE id = p_execution_attempt_id AND release_run_id = p_release_run_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::bigint;
        RETURN;
    END IF;
    IF COALESCE((p_status, p_decision) NOT IN (('completed', 'pass'), ('completed', 'fail'), ('failed', 'error'),
                                               ('timed_out', 'error')), true) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, NULL::bigint;
        RETURN;
    END IF;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    SELECT body_sha256 INTO v_accepted_digest FROM runner_results WHERE execution_attempt_id = v_attempt.id;
    v_refusal := CASE
        WHEN v_accepted_digest = p_body_sha256 THEN 'replayed'
        WHEN v_accepted_digest IS NOT NULL THEN 'conflict'
        WHEN v_run.execution_attempt_id IS DISTINCT FROM v_attempt.id OR v_run.retry_id IS DISTINCT FROM p_retry_id
            OR v_attempt.status = 'queued' OR (v_attempt.finished_at IS NOT NULL AND NOT v_attempt.inferred) THEN 'late' END;
    IF v_refusal IS NOT NULL THEN
        RETURN QUERY SELECT v_refusal, boardreadyops_audit_runner_result(
            v_attempt, p_registration_id, v_refusal, p_body_sha256, p_status, p_decision, v_now);
        RETURN;
    END IF;

    INSERT INTO runner_results (execution_attempt_id, installation_id, release_run_id, retry_id, body_sha256, status,
                                decision, summary, error_count, warning_count, details, received_at)
    VALUES (v_attempt.id, v_run.installation_id, v_run.id, p_retry_id, p_body_sha256, p_status, p_decision, p_summary,
            p_error_count, p_warning_count, p_details, v_now);
    v_reason := CASE WHEN v_attempt.inferred THEN 'runner_result_corrected' ELSE 'runner_result_' || p_status END;
    v_attempt.inferred := false;
    v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_status, v_reason, v_now);
    v_run.decision := p_decision;
    v_run := boardreadyops_move_release_run(v_run, p_status, v_reason, v_now);
    PERFORM boardreadyops_settle_lease(v_run, v_attempt, v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'accepted'::text, NULL::bigint;
END
$$;
