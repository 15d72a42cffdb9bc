-- Purpose: leases Check Runs that have something to tell to a relay. Each claim raises the generation, the relay's
--          fence. Of one commit only one row is leased at a time, the lower retry first, so that writes never overtake.
-- Outcomes: the claimed rows with the payload and the sequence they carry. A row whose earlier claim was never
--   acknowledged comes back `doubtful`, and only p_doubt_seconds after that claim ran out: read GitHub before writing.
-- Locks: publication rows only, skipping locked ones, and a transaction-long advisory lock per (repository, commit).
-- Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_claim_publications(
    p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (publication_id bigint, generation bigint, seq bigint, doubtful boolean, check_run_id bigint,
               installation_id bigint, repository_id bigint, repository_owner text, repository_name text,
               release_run_id uuid, retry_number integer, ordinal integer, commit_sha text, check_name text,
               external_id text, payload jsonb, send_count integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_due publications;
    v_row publications;
BEGIN
    FOR v_due IN
        SELECT due.* FROM publications AS due
        WHERE due.acked_seq < due.desired_seq AND due.closed_code IS NULL AND due.available_at <= v_now
            AND (due.claimed_until IS NULL OR due.claimed_until + make_interval(secs => p_doubt_seconds) <= v_now)
            AND NOT EXISTS (SELECT FROM publications AS busy WHERE busy.leased AND busy.closed_code IS NULL
                AND busy.repository_id = due.repository_id AND busy.commit_sha = due.commit_sha AND busy.id <> due.id)
            AND NOT EXISTS (SELECT FROM publications AS lower WHERE lower.acked_seq < lower.desired_seq
                AND lower.closed_code IS NULL AND lower.release_run_id = due.release_run_id
                AND lower.retry_number < due.retry_number)
        ORDER BY due.available_at, due.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(
            hashtextextended(v_due.repository_id || ' ' || v_due.commit_sha, 0));
        CONTINUE WHEN EXISTS (SELECT FROM publications AS busy WHERE busy.leased AND busy.closed_code IS NULL
            AND busy.repository_id = v_due.repository_id AND busy.commit_sha = v_due.commit_sha AND busy.id <> v_due.id);
        UPDATE publications AS claimed SET
            doubtful = claimed.doubtful OR claimed.leased,
            leased = true,
            generation = claimed.generation + 1,
            send_count = claimed.send_count + 1,
            claimed_until = v_now + make_interval(secs => p_lease_seconds)
        WHERE claimed.id = v_due.id RETURNING * INTO v_row;
        RETURN QUERY SELECT v_row.id, v_row.generation, v_row.desired_seq, v_row.doubtful, v_row.check_run_id::bigint,
            v_row.installation_id, v_row.repository_id, repository.owner, repository.name, v_row.release_run_id,
            v_row.retry_number, v_row.ordinal::integer, v_row.commit_sha, v_row.check_name::text, v_row.external_id,
            v_row.payload, v_row.send_count
        FROM repositories AS repository WHERE repository.id = v_row.repository_id;
    END LOOP;
END
$$;
