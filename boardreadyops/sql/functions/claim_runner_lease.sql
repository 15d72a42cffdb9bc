-- Purpose: hands the next claimable run to a runner: a new attempt, the run's pointer to it, and a lease bound to the
--          lifecycle snapshot it owns, in one transaction.
-- Outcomes: revoked (unknown or revoked registration) | existing (the same request again, its lease still alive: the same
--   lease) | ended (the same request again, its lease over) | none (nothing to do) | created.
-- Locks: registration -> run -> attempt -> lease -> publication.
-- Writes: run, attempt, event, lease, publication.
CREATE OR REPLACE FUNCTION boardreadyops_claim_runner_lease(
    p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (claim_outcome text, lease_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_registration runner_registrations;
    v_lease runner_leases;
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
    v_lease_seconds integer;
BEGIN
    SELECT * INTO v_registration FROM runner_registrations WHERE id = p_registration_id FOR NO KEY UPDATE;
    IF NOT FOUND OR v_registration.revoked_at IS NOT NULL THEN
        RETURN QUERY SELECT 'revoked'::text, NULL::uuid;
        RETURN;
    END IF;
    SELECT * INTO v_lease FROM runner_leases WHERE registration_id = p_registration_id AND request_id = p_request_id;
    IF FOUND THEN
        RETURN QUERY SELECT CASE v_lease.state WHEN 'active' THEN 'existing' ELSE 'ended' END, v_lease.id;
        RETURN;
    END IF;
    v_run := boardreadyops_next_claimable_run(v_registration, p_capabilities, COALESCE(p_now, clock_timestamp()));
    IF v_run.id IS NULL THEN
        RETURN QUERY SELECT 'none'::text, NULL::uuid;
        RETURN;
    END IF;

    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at);
    INSERT INTO release_run_attempts (installation_id, repository_id, release_run_id, number, retry_id, status,
                                      created_at, updated_at)
    SELECT v_run.installation_id, v_run.repository_id, v_run.id, COALESCE(max(number), 0) + 1, v_run.retry_id,
           'in_progress', v_now, v_now
    FROM release_run_attempts WHERE release_run_id = v_run.id
    RETURNING * INTO STRICT v_attempt;
    v_run.execution_attempt_id := v_attempt.id;
    v_run := boardreadyops_move_release_run(v_run, 'running', 'runner_lease_claimed', v_now);
    SELECT lease_seconds INTO STRICT v_lease_seconds FROM deployment_settings;
    INSERT INTO runner_leases (installation_id, registration_id, request_id, release_run_id, execution_attempt_id, retry_id,
        expected_run_status, expected_run_version, expected_attempt_status, expected_attempt_version, lease_seconds,
        claimed_at, heartbeat_at, expires_at, maximum_expires_at, next_check_at)
    SELECT v_run.installation_id, p_registration_id, p_request_id, v_run.id, v_attempt.id, v_run.retry_id,
        v_run.status, v_run.version, v_attempt.status, v_attempt.version, v_lease_seconds,
        v_now, v_now, ends.at, v_run.due_at, ends.at
    FROM (SELECT LEAST(v_now + make_interval(secs => v_lease_seconds), v_run.due_at) AS at) AS ends
    RETURNING * INTO STRICT v_lease;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'created'::text, v_lease.id;
END
$$;
