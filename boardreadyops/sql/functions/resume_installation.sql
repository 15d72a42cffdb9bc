-- Purpose: a tenant can be served again (unsuspended, reinstalled). Its open refs are due for the level rule and are looked at
--          on GitHub, since what was observed meanwhile was not taken; what GitHub is owed is due at once.
-- Outcomes: how many refs were marked, at most p_limit a call; fewer than p_limit means that none is left. Idempotent.
-- Locks: refs -> outbox/publication, skipping locked ones: they are being told. Writes: refs, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_resume_installation(
    p_installation_id bigint, p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_ref refs;
    v_count integer := 0;
BEGIN
    FOR v_ref IN SELECT * FROM refs WHERE installation_id = p_installation_id AND open AND level_due_at IS NULL
        ORDER BY repository_id, ref LIMIT p_limit FOR NO KEY UPDATE
    LOOP
        UPDATE refs SET level_due_at = v_now WHERE repository_id = v_ref.repository_id AND ref = v_ref.ref;
        PERFORM boardreadyops_request_confirm(v_ref, v_now);
        v_count := v_count + 1;
    END LOOP;
    UPDATE outbox SET available_at = v_now WHERE id IN (
        SELECT id FROM outbox WHERE installation_id = p_installation_id AND settled_at IS NULL AND available_at > v_now
        FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE publications SET available_at = v_now WHERE id IN (
        SELECT id FROM publications WHERE installation_id = p_installation_id
            AND acked_seq < desired_seq AND closed_code IS NULL AND NOT leased AND available_at > v_now
        FOR NO KEY UPDATE SKIP LOCKED);
    RETURN v_count;
END
$$;
