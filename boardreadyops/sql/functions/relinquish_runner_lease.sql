-- Purpose: a runner gives its run back. `job_error` fails the attempt and counts as a lost one; shutdown, capacity, operator
--          and capability leave it stale, cost none, and wait a little before the next claim. `capability` stores what was
--          missing, so that only a runner that has it is handed the run.
-- Outcomes, in this order: not_found | replayed (relinquished before) | stale (the lease is over, or its snapshot no longer
--   holds) | invalid (unknown reason) | accepted. Anything but accepted changes nothing.
-- Locks: run -> attempt -> lease -> publication. Writes: run, attempt, events, lease, publication.
CREATE OR REPLACE FUNCTION boardreadyops_relinquish_runner_lease(
    p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
    v_delay_seconds integer := 0;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = (SELECT release_run_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts
        WHERE id = (SELECT execution_attempt_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease_id FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF v_lease.state <> 'active' OR NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
        RETURN CASE v_lease.state WHEN 'relinquished' THEN 'replayed' ELSE 'stale' END;
    END IF;
    IF COALESCE(p_reason NOT IN ('shutdown', 'capacity', 'operator', 'job_error', 'capability'), true) THEN
        RETURN 'invalid';
    END IF;

    IF p_reason = 'job_error' THEN
        v_run.lost_attempts := v_run.lost_attempts + 1;
    ELSE
        v_run.given_back := v_run.given_back + 1;
        v_delay_seconds := LEAST(60, 2 ^ v_run.given_back);
    END IF;
    IF p_reason = 'capability' THEN
        v_run.needs := (SELECT COALESCE(array_agg(DISTINCT left(need, 200) ORDER BY left(need, 200)), '{}')
                        FROM unnest((v_run.needs || p_needs)[1:20]) AS need);
    END IF;
    UPDATE runner_leases SET message = left(COALESCE(p_message, ''), 500) WHERE id = p_lease_id;
    PERFORM boardreadyops_give_back_run(
        v_run, v_attempt, CASE p_reason WHEN 'job_error' THEN 'failed' ELSE 'stale' END, p_lease_id, 'relinquished',
        'runner_lease_relinquished', v_delay_seconds, v_now);
    RETURN 'accepted';
END
$$;
