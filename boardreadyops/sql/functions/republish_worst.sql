-- Purpose: one commit shows one check per name, the newest. When a neutral one landed on a commit that heads another open
--          ref, the worst verdict among the authoritative runs of open refs on that commit is told anew, and so last.
-- Outcomes: at most one new ordinal.
-- Locks: the publication told anew; the caller holds its run (shared), so that what it tells stays true. Reads refs
--   without locks: a ref that comes to this commit tells its own state. Writes: publications.
-- Internal: called only by acknowledge_publication.
CREATE OR REPLACE FUNCTION boardreadyops_republish_worst(p_landed publications, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_worst publications;
BEGIN
    SELECT newest.* INTO v_worst
    FROM refs
    JOIN release_runs AS run ON run.id = refs.release_run_id
    JOIN publications AS newest ON newest.release_run_id = run.id AND newest.retry_number = run.retry_number
    WHERE refs.repository_id = p_landed.repository_id AND refs.head_sha = p_landed.commit_sha AND refs.open
        AND newest.check_name = p_landed.check_name AND run.status NOT IN ('cancelled', 'superseded')
    ORDER BY CASE
        WHEN run.decision = 'pass' THEN 2
        WHEN run.finished_at IS NULL THEN 1
        ELSE 0 END, newest.release_run_id, newest.ordinal DESC
    LIMIT 1;
    IF v_worst.check_run_id < p_landed.check_run_id THEN
        -- A repeatable read that knows only this row must fail, not raise it and leave the new one behind.
        UPDATE publications SET available_at = available_at WHERE id = v_worst.id;
        PERFORM boardreadyops_open_next_ordinal(v_worst, p_now);
    END IF;
END
$$;
