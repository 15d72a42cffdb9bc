-- Purpose: leases due one-shot effects to a relay; each claim raises the row's generation, the relay's fence.
-- Outcomes: the claimed rows, oldest first, none if nothing is due; rows another relay is claiming are skipped.
-- Locks: outbox rows only, so that it can never wait for a lifecycle change. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_claim_outbox(
    p_limit integer, p_lease_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (effect_id bigint, generation bigint, kind text, installation_id bigint, repository_id bigint,
               repository_owner text, repository_name text, ref text, pull_request_number integer, send_count integer,
               release_run_id uuid, execution_attempt_id uuid, workflow_run_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT effect.id FROM outbox AS effect
        WHERE effect.settled_at IS NULL AND effect.available_at <= v_now
            AND (effect.claimed_until IS NULL OR effect.claimed_until <= v_now)
        ORDER BY effect.available_at, effect.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE outbox AS effect SET
            generation = effect.generation + 1, send_count = effect.send_count + 1,
            claimed_until = v_now + make_interval(secs => p_lease_seconds)
        FROM due WHERE effect.id = due.id RETURNING effect.*
    )
    SELECT claimed.id, claimed.generation, claimed.kind::text, repository.installation_id, claimed.repository_id,
           repository.owner, repository.name, claimed.ref, claimed.pull_request_number, claimed.send_count,
           claimed.release_run_id, claimed.execution_attempt_id, claimed.workflow_run_id::bigint
    FROM claimed JOIN repositories AS repository ON repository.id = claimed.repository_id
    ORDER BY claimed.available_at, claimed.id;
END
$$;
