-- Purpose: opens the Check Run of one asking; the rows of earlier askings keep what they last had to tell.
-- Outcomes: one row more.
-- Locks: none of its own; the caller holds the run. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_publication(p_run release_runs, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO publications (installation_id, repository_id, release_run_id, retry_id, retry_number, commit_sha,
                              check_name, external_id, payload, available_at, created_at)
    VALUES (p_run.installation_id, p_run.repository_id, p_run.id, p_run.retry_id, p_run.retry_number, p_run.commit_sha,
            CASE WHEN p_run.ref ~ '^refs/(heads|tags)/' AND p_run.ref !~ '^refs/heads/gh-readonly-queue/'
                 THEN 'BoardReadyOps (' || left(regexp_replace(p_run.ref, '^refs/(heads|tags)/', ''), 180) || ')'
                 ELSE 'BoardReadyOps' END,
            p_run.id || ':' || p_run.retry_number || ':0',
            boardreadyops_publication_payload(p_run), p_now, p_now);
END
$$;
