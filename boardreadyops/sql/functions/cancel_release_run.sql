-- Purpose: cancels one open run on someone's word; the runner hears of it with its next heartbeat.
-- Outcomes, in this order: not_found (unknown, or another installation's) | existing (cancelled already) | terminal (ended
--   otherwise, untouched) | invalid_transition (malformed reason) | applied. Idempotent.
-- Locks: run -> attempt -> lease -> publication. Writes: run, attempt, events, lease, publication.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_release_run(
    p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (cancel_outcome text, run_status text, run_version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = p_release_run_id AND installation_id = p_installation_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::text, NULL::bigint;
        RETURN;
    END IF;
    IF v_run.finished_at IS NOT NULL THEN
        RETURN QUERY SELECT CASE v_run.status WHEN 'cancelled' THEN 'existing' ELSE 'terminal' END,
            v_run.status::text, v_run.version::bigint;
        RETURN;
    END IF;
    IF COALESCE(p_reason_code !~ '^[a-z0-9]+([._-][a-z0-9]+)*$' OR length(p_reason_code) > 128, true) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, v_run.status::text, v_run.version::bigint;
        RETURN;
    END IF;

    v_run.cancelled_by := left(p_cancelled_by, 200);
    v_run := boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, COALESCE(p_now, clock_timestamp()));
    RETURN QUERY SELECT 'applied'::text, v_run.status::text, v_run.version::bigint;
END
$$;
