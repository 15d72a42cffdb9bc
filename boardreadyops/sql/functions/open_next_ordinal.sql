-- Purpose: tells an asking's state once more in a check of its own, the newest of its name on the commit.
-- Outcomes: one row more, unless a newer ordinal exists already.
-- Locks: none of its own; the caller holds the run. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_next_ordinal(p_publication publications, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO publications (installation_id, repository_id, release_run_id, retry_id, retry_number, ordinal, commit_sha,
                              check_name, external_id, payload, available_at, created_at)
    VALUES (p_publication.installation_id, p_publication.repository_id, p_publication.release_run_id,
            p_publication.retry_id, p_publication.retry_number, p_publication.ordinal + 1, p_publication.commit_sha,
            p_publication.check_name,
            p_publication.release_run_id || ':' || p_publication.retry_number || ':' || p_publication.ordinal + 1,
            p_publication.payload, p_now, p_now)
    ON CONFLICT (release_run_id, retry_number, ordinal) DO NOTHING
$$;
