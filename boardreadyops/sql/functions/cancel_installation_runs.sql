-- Purpose: an installation was removed or suspended: cancels its open runs, at most p_limit a call.
-- Outcomes: how many were cancelled; fewer than p_limit means that none is left. Idempotent.
-- Locks: runs in ascending id -> attempt -> lease -> publication.
-- Writes: runs, attempts, events, leases, publications.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_installation_runs(
    p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_count integer := 0;
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    FOR v_run IN SELECT * FROM release_runs WHERE installation_id = p_installation_id
        AND status IN ('queued', 'dispatched', 'running') ORDER BY id LIMIT p_limit FOR NO KEY UPDATE
    LOOP
        PERFORM boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, v_now);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$$;
