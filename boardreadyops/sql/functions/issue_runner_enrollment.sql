-- Purpose: lets one runner register: for one installation, optionally for listed repositories of it, or managed (no
--          installation named), which serves all.
-- Outcomes: issued, with the time it runs out; not_found (no such installation, or a repository is not its own);
--   invalid (a life beyond one hour, or repositories without an installation).
-- Locks: none. Writes: runner_enrollments.
CREATE OR REPLACE FUNCTION boardreadyops_issue_runner_enrollment(
    p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (enrollment_outcome text, expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_expires_at timestamptz := v_now + make_interval(secs => p_ttl_seconds);
BEGIN
    IF COALESCE(p_ttl_seconds NOT BETWEEN 1 AND 3600, true) OR (p_installation_id IS NULL AND p_repository_ids IS NOT NULL) THEN
        RETURN QUERY SELECT 'invalid'::text, NULL::timestamptz;
        RETURN;
    END IF;
    IF (p_installation_id IS NOT NULL AND NOT EXISTS (SELECT FROM installations WHERE id = p_installation_id))
        OR EXISTS (SELECT FROM unnest(p_repository_ids) AS wanted (id) WHERE NOT EXISTS (
            SELECT FROM repositories WHERE repositories.id = wanted.id AND installation_id = p_installation_id)) THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::timestamptz;
        RETURN;
    END IF;

    INSERT INTO runner_enrollments (installation_id, repository_ids, name, token_digest, created_at, expires_at)
    VALUES (p_installation_id, p_repository_ids, p_name, p_token_digest, v_now, v_expires_at);
    RETURN QUERY SELECT 'issued'::text, v_expires_at;
END
$$;
