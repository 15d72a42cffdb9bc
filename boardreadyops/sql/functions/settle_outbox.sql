-- Purpose: marks a one-shot effect as done, with the code that says how it ended.
-- Outcomes: applied; stale when another claim has the row by now or it is settled; not_found.
-- Locks: the outbox row. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_settle_outbox(
    p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamptz DEFAULT NULL) RETURNS text
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

    UPDATE outbox SET settled_at = COALESCE(p_now, clock_timestamp()), outcome_code = p_outcome_code,
        claimed_until = NULL WHERE id = p_effect_id;
    RETURN 'applied';
END
$$;
