-- Purpose: notices that nobody swept for a while, which means that runners could not reach us either, and gives every active
--          lease one lease length from now, never beyond its maximum.
-- Outcomes: until when no lease may expire but at its maximum, null if any may; the mark is moved at most every few seconds.
-- Locks: the sweep mark (skipped when another sweep holds it) -> leases, skipping locked ones: the mark covers them.
-- Writes: sweep_marks, runner_leases.
-- Internal: called only by expire_runner_leases.
CREATE OR REPLACE FUNCTION boardreadyops_grant_grace(p_now timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    v_mark_every CONSTANT interval := interval '5 seconds';
    v_mark sweep_marks;
    v_lease_length interval;
    v_late boolean;
BEGIN
    SELECT * INTO STRICT v_mark FROM sweep_marks WHERE sweep = 'leases';
    IF v_mark.swept_at >= p_now - v_mark_every THEN
        RETURN v_mark.grace_until;
    END IF;
    SELECT make_interval(secs => lease_seconds) INTO STRICT v_lease_length FROM deployment_settings;
    v_late := p_now - v_mark.swept_at > GREATEST(v_lease_length / 3, v_mark_every * 2);
    PERFORM FROM sweep_marks WHERE sweep = 'leases' AND swept_at = v_mark.swept_at FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        -- Another sweep is granting it, and what it writes cannot be seen yet.
        RETURN CASE WHEN v_late THEN p_now + v_lease_length ELSE v_mark.grace_until END;
    END IF;
    UPDATE sweep_marks SET swept_at = p_now, grace_until = CASE WHEN v_late THEN p_now + v_lease_length ELSE grace_until END
        WHERE sweep = 'leases' RETURNING * INTO STRICT v_mark;
    IF v_late THEN
        UPDATE runner_leases SET
            expires_at = LEAST(GREATEST(expires_at, v_mark.grace_until), maximum_expires_at),
            next_check_at = LEAST(GREATEST(expires_at, v_mark.grace_until), maximum_expires_at)
        WHERE id IN (SELECT id FROM runner_leases WHERE state = 'active' AND next_check_at IS NOT NULL
            FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN v_mark.grace_until;
END
$$;
