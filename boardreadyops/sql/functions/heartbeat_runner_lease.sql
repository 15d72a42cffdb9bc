-- Purpose: a runner says that it is alive and how far it is; the lease is extended, never beyond its maximum. An overdue
--          lease that no sweep has taken yet is still its own. Only a later stage touches run and attempt: see
--          advance_lease_stage.
-- Outcomes: no row for an unknown lease; else the lease's state, `continue` or `stop`, for an ended lease the reason, and
--   the seconds left, counted at the database's clock. An earlier stage is ignored. Idempotent.
-- Locks: an unchanged stage: the lease alone. A later one: run -> attempt -> lease -> publication.
-- Writes: the lease; for a later stage also attempt, event, publication.
CREATE OR REPLACE FUNCTION boardreadyops_heartbeat_runner_lease(
    p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (lease_state text, directive text, reason text, expires_in_seconds integer,
               maximum_expires_in_seconds integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_stages CONSTANT text[] := ARRAY['claimed', 'preparing_source', 'running', 'uploading_artifacts', 'reporting'];
    v_lease runner_leases;
    v_now timestamptz;
    v_alive boolean;
BEGIN
    SELECT * INTO v_lease FROM runner_leases WHERE id = p_lease_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF v_lease.state = 'active'
        AND array_position(v_stages, p_stage) > array_position(v_stages, v_lease.stage) THEN
        PERFORM boardreadyops_advance_lease_stage(v_lease, p_stage, p_now);
    END IF;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease_id FOR NO KEY UPDATE;
    v_now := COALESCE(p_now, clock_timestamp());
    v_alive := v_lease.state = 'active' AND v_lease.maximum_expires_at > v_now;
    IF v_alive THEN
        UPDATE runner_leases SET
            heartbeat_at = v_now, progress = p_progress, message = left(p_message, 500),
            expires_at = LEAST(v_now + make_interval(secs => v_lease.lease_seconds), v_lease.maximum_expires_at)
        WHERE id = p_lease_id RETURNING * INTO STRICT v_lease;
    END IF;
    RETURN QUERY SELECT
        CASE WHEN v_lease.state = 'active' AND NOT v_alive THEN 'expired' ELSE v_lease.state::text END,
        CASE WHEN v_alive THEN 'continue' ELSE 'stop' END,
        CASE WHEN NOT v_alive THEN (SELECT run.reason_code::text FROM release_runs AS run WHERE run.id = v_lease.release_run_id)
            END,
        GREATEST(0, floor(extract(epoch FROM v_lease.expires_at - v_now)))::integer,
        GREATEST(0, floor(extract(epoch FROM v_lease.maximum_expires_at - v_now)))::integer;
END
$$;
