-- Purpose: says that GitHub holds what sequence p_seq had to tell, and gives the row back. A neutral end that landed on a
--          commit which heads another open ref has the worst verdict there told anew.
-- Outcomes: applied; stale when another claim has the row by now: then only a read-back is asked for, since an older
--   write may have landed last; not_found.
-- Locks: for a neutral end the authoritative runs of open refs on its commit (shared, ascending id) -> the publication row.
-- Writes: publications. Safe to repeat: the repeat answers stale and asks for a read-back.
CREATE OR REPLACE FUNCTION boardreadyops_acknowledge_publication(
    p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    -- A run that moved between the reading and the retelling of its state would be told wrongly for ever.
    PERFORM FROM release_runs AS run WHERE run.id IN (
        SELECT refs.release_run_id FROM refs JOIN publications AS landing
            ON landing.repository_id = refs.repository_id AND landing.commit_sha = refs.head_sha
        WHERE landing.id = p_publication_id AND refs.open AND landing.payload ->> 'status' IN ('cancelled', 'superseded'))
        ORDER BY run.id FOR SHARE;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_publication.generation IS DISTINCT FROM p_generation OR NOT v_publication.leased THEN
        UPDATE publications SET verify_at = LEAST(COALESCE(verify_at, v_now), v_now) WHERE id = p_publication_id;
        RETURN 'stale';
    END IF;

    UPDATE publications SET
        acked_seq = GREATEST(acked_seq, LEAST(p_seq, desired_seq)),
        acked_at = v_now,
        available_at = v_now,
        leased = false, doubtful = false, claimed_until = NULL, send_count = 0, last_error = NULL
    WHERE id = p_publication_id RETURNING * INTO STRICT v_publication;
    IF v_publication.payload ->> 'status' IN ('cancelled', 'superseded')
        AND v_publication.acked_seq = v_publication.desired_seq THEN
        PERFORM boardreadyops_republish_worst(v_publication, v_now);
    END IF;
    RETURN 'applied';
END
$$;
