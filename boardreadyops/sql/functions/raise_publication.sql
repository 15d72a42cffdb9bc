-- Purpose: says that the current asking's Check Run has something newer to tell; the newest wins, nothing queues up.
-- Outcomes: desired_seq raised by one on every ordinal of the asking; a closed row stays closed, and a pause that GitHub
--   asked for is kept.
-- Locks: the publication rows, after run, attempt and lease. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_raise_publication(p_run release_runs) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE publications SET
        payload = boardreadyops_publication_payload(p_run),
        desired_seq = desired_seq + 1
    WHERE release_run_id = p_run.id AND retry_number = p_run.retry_number;
END
$$;
