-- Purpose: gives a claimed one-shot effect back, to be tried again after a delay.
--          What was given back before anything was sent (`p_sent` false) does not count as a send.
-- Outcomes: applied; stale when another claim has the row by now or it is settled; not_found.
-- Locks: the outbox row. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_defer_outbox(
    p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamptz DEFAULT NULL,
    p_sent boolean DEFAULT true)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_effect outbox;
BEGIN
    SELECT * INTO v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_effect.settled_at IS NOT NULL OR v_effect.generation IS DISTINCT FROM p_generation THEN
        RETURN 'stale';
    END IF;

    UPDATE outbox SET claimed_until = NULL, last_error = left(p_error, 500),
        send_count = CASE WHEN p_sent THEN send_count ELSE GREATEST(send_count - 1, 0) END,
        available_at = COALESCE(p_now, clock_timestamp()) + make_interval(secs => p_delay_seconds)
    WHERE id = p_effect_id;
    RETURN 'applied';
END
$$;
