-- Purpose: turns an enrolment into a registration, once.
-- Outcomes: registered; refused (unknown, expired or used enrolment: one answer for all three, so that nothing leaks).
-- Locks: the enrolment. Writes: runner_registrations, runner_enrollments.
CREATE OR REPLACE FUNCTION boardreadyops_register_runner(
    p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (registration_outcome text, registration_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_enrollment runner_enrollments;
    v_registration_id uuid;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_enrollment FROM runner_enrollments WHERE token_digest = p_enrollment_digest FOR NO KEY UPDATE;
    v_now := COALESCE(p_now, clock_timestamp());
    IF NOT FOUND OR v_enrollment.registration_id IS NOT NULL OR v_enrollment.expires_at <= v_now THEN
        RETURN QUERY SELECT 'refused'::text, NULL::uuid;
        RETURN;
    END IF;

    INSERT INTO runner_registrations (installation_id, repository_ids, name, runner_version, token_digest, created_at)
    VALUES (v_enrollment.installation_id, v_enrollment.repository_ids, p_name, p_runner_version, p_token_digest, v_now)
    RETURNING id INTO v_registration_id;
    UPDATE runner_enrollments SET registration_id = v_registration_id WHERE id = v_enrollment.id;
    RETURN QUERY SELECT 'registered'::text, v_registration_id;
END
$$;
