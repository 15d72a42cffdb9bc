-- Purpose: a registration is void from now on, and every lease it holds ends at once as a lost attempt.
--          A lease whose snapshot drifted is closed and changes nothing else, as at its expiry.
-- Outcomes, in this order: not_found | existing (revoked before) | applied. Idempotent.
-- Locks: registration -> runs in ascending id -> attempt -> lease -> publication.
-- Writes: registration, runs, attempts, events, leases, publications.
CREATE OR REPLACE FUNCTION boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamptz DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_registration runner_registrations;
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_registration FROM runner_registrations WHERE id = p_registration_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_registration.revoked_at IS NOT NULL THEN
        RETURN 'existing';
    END IF;

    UPDATE runner_registrations SET revoked_at = COALESCE(p_now, clock_timestamp()) WHERE id = p_registration_id;
    PERFORM FROM release_runs AS run WHERE run.id IN (SELECT lease.release_run_id
        FROM runner_leases AS lease WHERE lease.registration_id = p_registration_id AND lease.state = 'active')
        ORDER BY run.id FOR NO KEY UPDATE;
    FOR v_lease IN SELECT * FROM runner_leases WHERE registration_id = p_registration_id AND state = 'active'
        ORDER BY release_run_id
    LOOP
        SELECT * INTO STRICT v_run FROM release_runs WHERE id = v_lease.release_run_id;
        SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = v_lease.execution_attempt_id FOR NO KEY UPDATE;
        SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = v_lease.id FOR NO KEY UPDATE;
        v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
        IF NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
            UPDATE runner_leases SET state = 'revoked', ended_at = v_now WHERE id = v_lease.id;
            CONTINUE;
        END IF;
        v_run.lost_attempts := v_run.lost_attempts + 1;
        PERFORM boardreadyops_give_back_run(
            v_run, v_attempt, 'stale', v_lease.id, 'revoked', 'runner_lease_revoked', 0, v_now);
    END LOOP;
    RETURN 'applied';
END
$$;
