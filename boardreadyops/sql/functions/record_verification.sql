-- Purpose: what a read-back of a Check Run found. `same`: GitHub shows what we told. `different`: it is told again.
--          `frozen`: it was told again and GitHub keeps the old word, so the next ordinal tells it in a check of its own.
--          `gone`: the check is no longer there, so the next ordinal makes a new one.
-- Outcomes, in this order: not_found | invalid (unknown finding) | stale (more was desired since: nothing to do) | applied.
-- Locks: run -> publication. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_record_verification(
    p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    PERFORM FROM release_runs
        WHERE id = (SELECT release_run_id FROM publications WHERE id = p_publication_id) FOR SHARE;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF COALESCE(p_finding NOT IN ('same', 'different', 'frozen', 'gone'), true) THEN
        RETURN 'invalid';
    END IF;
    IF v_publication.desired_seq IS DISTINCT FROM p_seq OR v_publication.closed_code IS NOT NULL THEN
        RETURN 'stale';
    END IF;

    UPDATE publications SET
        verify_at = NULL,
        desired_seq = desired_seq + CASE p_finding WHEN 'different' THEN 1 ELSE 0 END,
        closed_code = CASE p_finding WHEN 'gone' THEN 'gone' WHEN 'frozen' THEN 'frozen' END
    WHERE id = p_publication_id;
    IF p_finding IN ('frozen', 'gone') THEN
        PERFORM boardreadyops_open_next_ordinal(v_publication, v_now);
    END IF;
    RETURN 'applied';
END
$$;
