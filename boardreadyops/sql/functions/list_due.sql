-- Purpose: what a sweep would take now, oldest first, for a sweeper that must find the one row that stops a batch.
-- Outcomes: ids; of runs past their deadline, or of leases to look at.
-- Locks: none. Writes: nothing.
CREATE OR REPLACE FUNCTION boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamptz DEFAULT NULL)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    IF p_sweep = 'deadlines' THEN
        RETURN QUERY SELECT id FROM release_runs WHERE due_at <= v_now ORDER BY due_at LIMIT p_limit;
    ELSIF p_sweep = 'leases' THEN
        RETURN QUERY SELECT id FROM runner_leases WHERE state = 'active' AND next_check_at <= v_now
            ORDER BY next_check_at LIMIT p_limit;
    END IF;
END
$$;
