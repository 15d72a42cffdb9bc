-- Purpose: remembers where the waiting runs of an installation begin, when finding them took a long walk over entries that
--          are dead but still kept for an older transaction; forgets it when the walk is short again.
-- Outcomes: a mark is written at most once per a hundred entries walked. It stays 30 seconds (the application's limit for
--   one command) behind the clock, as a run that is queued now may be committed that much later.
-- Locks: the mark, skipped when another claim holds it. Writes: claim_marks.
-- Internal: called only by claims.
CREATE OR REPLACE FUNCTION boardreadyops_note_claim_walk(
    p_installation_id bigint, p_found_queued_at timestamptz, p_walked bigint, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_long_walk CONSTANT bigint := 100;
    v_late_commit CONSTANT interval := interval '30 seconds';
    v_begin timestamptz := LEAST(p_found_queued_at, p_now - v_late_commit);
    v_rescan_at timestamptz := p_now
        + LEAST(GREATEST(interval '30 seconds', p_walked * interval '5 milliseconds'), interval '10 minutes');
    v_mark claim_marks;
BEGIN
    SELECT * INTO v_mark FROM claim_marks WHERE installation_id = p_installation_id FOR UPDATE SKIP LOCKED;
    IF p_walked <= v_long_walk THEN
        DELETE FROM claim_marks WHERE installation_id = v_mark.installation_id AND v_mark.rescan_at <= p_now;
        RETURN;
    END IF;
    IF v_mark.installation_id IS NOT NULL THEN
        UPDATE claim_marks SET queued_at = v_begin,
            rescan_at = CASE WHEN v_mark.rescan_at <= p_now THEN v_rescan_at ELSE v_mark.rescan_at END
        WHERE installation_id = p_installation_id;
        RETURN;
    END IF;
    INSERT INTO claim_marks (installation_id, queued_at, rescan_at) VALUES (p_installation_id, v_begin, v_rescan_at)
        ON CONFLICT DO NOTHING;
END
$$;
