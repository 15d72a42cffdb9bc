-- Purpose: Check Runs that are due to be read back: an older write may have landed last, or it is time to look.
-- Outcomes: rows whose last word is acknowledged and whose verify_at has come; each is put off by p_lease_seconds, so that one
--   relay looks at a time.
-- Locks: publication rows, skipping locked ones. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_claim_verifications(
    p_limit integer, p_lease_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (publication_id bigint, seq bigint, check_run_id bigint, installation_id bigint, repository_owner text,
               repository_name text, external_id text, release_run_id uuid, ordinal integer, payload jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT publication.id FROM publications AS publication
        WHERE publication.verify_at <= v_now AND publication.acked_seq = publication.desired_seq
            AND publication.closed_code IS NULL AND NOT publication.leased
        ORDER BY publication.verify_at, publication.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), looked AS (
        UPDATE publications AS publication SET verify_at = v_now + make_interval(secs => p_lease_seconds)
        FROM due WHERE publication.id = due.id RETURNING publication.*
    )
    SELECT looked.id, looked.desired_seq, looked.check_run_id::bigint, looked.installation_id, repository.owner,
           repository.name, looked.external_id, looked.release_run_id, looked.ordinal::integer, looked.payload
    FROM looked JOIN repositories AS repository ON repository.id = looked.repository_id ORDER BY looked.id;
END
$$;
