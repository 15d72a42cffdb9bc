-- Purpose: the level rule for one ref that is due for it: an open ref of an enabled tenant has its head asked, and asked again
--          when its run ended superseded, or cancelled by neither a person nor policy. One ref a call, so that the locks of one
--          never come before the locks of another; `p_limit` due refs, after the first `p_skip`, are looked through for one
--          that nobody holds.
-- Outcomes: the ref's run and what became of it, no row when nothing is due; a disabled tenant's ref is put off by an hour and
--          answers `disabled`, a closed one is due no more and answers `closed`.
-- Locks: installation, repository (shared) -> ref -> runs -> attempt -> lease -> outbox/publication.
-- Writes: refs, runs, attempts, events, leases, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_sweep_levels(
    p_limit integer, p_now timestamptz DEFAULT NULL, p_skip integer DEFAULT 0)
RETURNS TABLE (release_run_id uuid, level_outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_due refs;
    v_ref refs;
    v_enabled boolean;
BEGIN
    FOR v_due IN SELECT * FROM refs WHERE level_due_at <= v_now ORDER BY level_due_at LIMIT p_limit OFFSET p_skip LOOP
        v_enabled := boardreadyops_lock_tenant(v_due.installation_id, v_due.repository_id);
        SELECT * INTO v_ref FROM refs WHERE repository_id = v_due.repository_id AND ref = v_due.ref
            AND level_due_at <= v_now FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_now := COALESCE(p_now, clock_timestamp());
        IF v_enabled IS TRUE AND v_ref.open THEN
            RETURN QUERY SELECT head.release_run_id, head.enqueue_outcome
                FROM boardreadyops_open_head_run(v_ref, v_now) AS head;
            RETURN;
        END IF;
        UPDATE refs SET level_due_at = CASE WHEN open THEN v_now + interval '1 hour' END
            WHERE repository_id = v_ref.repository_id AND ref = v_ref.ref;
        RETURN QUERY SELECT v_ref.release_run_id, CASE WHEN v_ref.open THEN 'disabled' ELSE 'closed' END;
        RETURN;
    END LOOP;
END
$$;
