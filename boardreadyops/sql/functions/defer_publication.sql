-- Purpose: gives a claimed row back after a failed send. `uncertain` (the request may have been executed) leaves the row
--          leased and doubtful until the doubt has passed; `gone` closes it for good with that code; the others are tried
--          again after the delay.
--          What was given back before anything was sent (`p_sent` false) does not count as a send.
-- Outcomes: applied; stale when another claim has the row by now; not_found; invalid for an unknown class.
-- Locks: the publication row. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_defer_publication(
    p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer,
    p_now timestamptz DEFAULT NULL, p_sent boolean DEFAULT true) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    IF COALESCE(p_error_class NOT IN ('gone', 'denied', 'rate_limited', 'transient', 'uncertain'), true) THEN
        RETURN 'invalid';
    END IF;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_publication.generation IS DISTINCT FROM p_generation OR NOT v_publication.leased THEN
        RETURN 'stale';
    END IF;

    UPDATE publications SET
        last_error = left(p_error, 500),
        send_count = CASE WHEN p_sent THEN send_count ELSE GREATEST(send_count - 1, 0) END,
        doubtful = doubtful OR p_error_class = 'uncertain',
        leased = p_error_class = 'uncertain',
        claimed_until = CASE WHEN p_error_class = 'uncertain' THEN v_now END,
        available_at = v_now + make_interval(secs => p_delay_seconds),
        closed_code = CASE WHEN p_error_class = 'gone' THEN 'gone' END
    WHERE id = p_publication_id;
    RETURN 'applied';
END
$$;
