-- Purpose: keeps a result that came too late or contradicts the accepted one, once per attempt, outcome and digest.
-- Outcomes: the audit row's id; null for a replay, which needs no record.
-- Locks: none of its own; the caller holds run and attempt, so that no second row can appear. Writes: runner_result_audit.
-- Internal: called only by record_runner_result.
CREATE OR REPLACE FUNCTION boardreadyops_audit_runner_result(
    p_attempt release_run_attempts, p_registration_id uuid, p_outcome text, p_body_sha256 bytea, p_status text,
    p_decision text, p_now timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_audit_id bigint;
BEGIN
    IF p_outcome = 'replayed' THEN
        RETURN NULL;
    END IF;
    SELECT id INTO v_audit_id FROM runner_result_audit WHERE release_run_id = p_attempt.release_run_id
        AND execution_attempt_id = p_attempt.id AND outcome = p_outcome AND body_sha256 = p_body_sha256;
    IF FOUND THEN
        RETURN v_audit_id;
    END IF;

    INSERT INTO runner_result_audit (installation_id, release_run_id, execution_attempt_id, registration_id, outcome,
                                     body_sha256, status, decision, received_at)
    VALUES (p_attempt.installation_id, p_attempt.release_run_id, p_attempt.id, p_registration_id, p_outcome,
            p_body_sha256, p_status, p_decision, p_now)
    RETURNING id INTO v_audit_id;
    RETURN v_audit_id;
END
$$;
