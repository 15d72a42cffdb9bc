-- Purpose: the level rule for refs that are due for it: an open ref of an enabled tenant has its head asked, and asked again
--          when its run ended superseded, or cancelled by neither a person nor policy.
-- Outcomes: one row per ref looked at, with its run; a disabled tenant's ref is put off by an hour and answers `disabled`.
-- Locks: installation, repository (shared) -> ref -> runs -> attempt -> lease -> outbox/publication.
-- Writes: refs, runs, attempts, events, leases, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_sweep_levels(p_limit integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (release_run_id uuid, level_outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_due refs;
    v_ref refs;
BEGIN
    FOR v_due IN SELECT * FROM refs WHERE level_due_at <= v_now ORDER BY level_due_at LIMIT p_limit LOOP
        IF boardreadyops_lock_tenant(v_due.installation_id, v_due.repository_id) IS NOT TRUE THEN
            UPDATE refs SET level_due_at = v_now + interval '1 hour'
                WHERE repository_id = v_due.repository_id AND ref = v_due.ref;
            RETURN QUERY SELECT v_due.release_run_id, 'disabled'::text;
            CONTINUE;
        END IF;
        SELECT * INTO v_ref FROM refs WHERE repository_id = v_due.repository_id AND ref = v_due.ref
            AND level_due_at <= v_now FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF NOT v_ref.open THEN
            UPDATE refs SET level_due_at = NULL WHERE repository_id = v_ref.repository_id AND ref = v_ref.ref;
            CONTINUE;
        END IF;
        RETURN QUERY SELECT head.release_run_id, head.enqueue_outcome
            FROM boardreadyops_open_head_run(v_ref, v_now) AS head;
    END LOOP;
END
$$;
