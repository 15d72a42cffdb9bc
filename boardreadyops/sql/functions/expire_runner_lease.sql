-- Purpose: looks at one lease that is due: see expire_runner_leases.
-- Outcomes: rearmed | timed_out | requeued | exhausted | closed; null when another transaction holds its run or it is over.
-- Locks: run (skipped when locked) -> attempt -> lease -> outbox/publication.
-- Writes: lease, run, attempt, events, outbox, publication.
-- Internal: called only by expire_runner_leases.
CREATE OR REPLACE FUNCTION boardreadyops_expire_runner_lease(p_lease_id uuid, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = (SELECT release_run_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts
        WHERE id = (SELECT execution_attempt_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease_id FOR NO KEY UPDATE;
    v_now := GREATEST(p_now, v_run.updated_at, v_attempt.updated_at);
    IF v_lease.state <> 'active' THEN
        RETURN NULL;
    END IF;
    IF v_lease.expires_at > p_now THEN
        UPDATE runner_leases SET next_check_at = expires_at WHERE id = p_lease_id;
        RETURN 'rearmed';
    END IF;
    IF NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
        UPDATE runner_leases SET state = 'expired', ended_at = v_now WHERE id = p_lease_id;
        RETURN 'closed';
    END IF;
    IF v_lease.maximum_expires_at <= p_now THEN
        UPDATE release_run_attempts SET inferred = true WHERE id = v_attempt.id;
        PERFORM boardreadyops_end_release_run(v_run, 'timed_out', 'run_deadline_exceeded', v_now);
        RETURN 'timed_out';
    END IF;

    v_run.lost_attempts := v_run.lost_attempts + 1;
    v_run := boardreadyops_give_back_run(
        v_run, v_attempt, 'stale', p_lease_id, 'expired', 'runner_lease_expired', 0, v_now);
    RETURN CASE v_run.status WHEN 'failed' THEN 'exhausted' ELSE 'requeued' END;
END
$$;
