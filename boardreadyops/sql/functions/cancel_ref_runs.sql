-- Purpose: a ref is closed: its open runs end as cancelled.
-- Outcomes: the ids of the runs cancelled.
-- Locks: runs in ascending id -> attempt -> lease -> outbox/publication; the caller holds the ref.
-- Writes: runs, attempts, events, leases, outbox, publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_ref_runs(p_ref refs, p_reason_code text, p_now timestamptz) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
    v_cancelled uuid[] := '{}';
BEGIN
    FOR v_run IN SELECT * FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id AND run.ref = p_ref.ref
        AND run.status IN ('queued', 'dispatched', 'running') ORDER BY run.id FOR NO KEY UPDATE
    LOOP
        PERFORM boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, p_now);
        v_cancelled := v_cancelled || v_run.id;
    END LOOP;
    RETURN v_cancelled;
END
$$;
