-- Purpose: takes back leases whose runner fell silent, and ends runs whose lease reached its maximum (the run deadline is
--          tested first). A lease that was extended since its last look is looked at later. After an outage of ours, when no
--          sweep looked for a third of a lease, every active lease first gets one lease length of grace.
-- Outcomes: one row per lease: rearmed | timed_out | requeued | exhausted | closed (drift from its snapshot: the lease ends,
--   nothing newer is touched). At most p_limit; with p_only_lease_id only that lease.
-- Locks: sweep mark; run (skipping locked ones) -> attempt -> lease -> outbox/publication.
-- Writes: leases, runs, attempts, events, outbox, publications, the sweep mark.
CREATE OR REPLACE FUNCTION boardreadyops_expire_runner_leases(
    p_limit integer, p_only_lease_id uuid DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (lease_id uuid, expiry_outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_grace_until timestamptz;
BEGIN
    v_grace_until := boardreadyops_grant_grace(v_now);
    FOR lease_id IN SELECT lease.id FROM runner_leases AS lease
        WHERE lease.state = 'active' AND lease.next_check_at <= v_now
            AND (p_only_lease_id IS NULL OR lease.id = p_only_lease_id)
            AND (v_grace_until IS NULL OR v_grace_until <= v_now OR lease.maximum_expires_at <= v_now)
        ORDER BY lease.next_check_at LIMIT p_limit
    LOOP
        expiry_outcome := boardreadyops_expire_runner_lease(lease_id, v_now);
        IF expiry_outcome IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
