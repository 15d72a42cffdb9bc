-- Purpose: a registration answers to a new token from now on and no longer to the one it had; its leases, which have tokens of
--          their own, go on.
-- Outcomes, in this order: not_found | revoked (a void registration gets no token) | existing (this token already) | applied.
--   Idempotent.
-- Locks: registration. Writes: registration.
CREATE OR REPLACE FUNCTION boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_registration runner_registrations;
BEGIN
    SELECT * INTO v_registration FROM runner_registrations WHERE id = p_registration_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_registration.revoked_at IS NOT NULL THEN
        RETURN 'revoked';
    END IF;
    IF v_registration.token_digest = p_token_digest THEN
        RETURN 'existing';
    END IF;

    UPDATE runner_registrations SET token_digest = p_token_digest WHERE id = p_registration_id;
    RETURN 'applied';
END
$$;
