-- Purpose: notices that nobody swept for a while, which means that runners could not reach us either, and gives every active
--          lease one lease length from now, never beyond its maximum.
-- Outcomes: nothing to report; the mark is moved at most every few seconds.
-- Locks: the sweep mark (skipped when another sweep holds it) -> leases, skipping locked ones: their runners are here. Writes: sweep_marks, runner_leases.
-- Internal: called only by expire_runner_leases.
CREATE OR REPLACE FUNCTION boardreadyops_grant_grace(p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_mark_every CONSTANT interval := interval '5 seconds';
    v_swept_at timestamptz;
    v_lease_length interval;
BEGIN
    SELECT swept_at INTO v_swept_at FROM sweep_marks WHERE sweep = 'leases' AND swept_at < p_now - v_mark_every
        FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT make_interval(secs => lease_seconds) INTO STRICT v_lease_length FROM deployment_settings;
    UPDATE sweep_marks SET swept_at = p_now WHERE sweep = 'leases';
    IF p_now - v_swept_at > GREATEST(v_lease_length / 3, v_mark_every * 2) THEN
        UPDATE runner_leases SET
            expires_at = LEAST(GREATEST(expires_at, p_now + v_lease_length), maximum_expires_at),
            next_check_at = LEAST(GREATEST(expires_at, p_now + v_lease_length), maximum_expires_at)
        WHERE id IN (SELECT id FROM runner_leases WHERE state = 'active' FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
END
$$;
