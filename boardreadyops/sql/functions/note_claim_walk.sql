-- Purpose: remembers where the waiting runs of an installation begin, when finding them took a long walk over entries that
--          are dead but still kept for an older transaction; forgets it when the walk is short again.
-- Outcomes: a mark is written at most once per thirty entries walked. It lies at the oldest run that is seen waiting, one
--   that another claim is just taking included, as that claim may be undone; and 30 seconds (the application's limit for
--   one command) behind the clock, as a run that is queued now may be committed that much later.
-- Locks: the mark, skipped when another claim holds it. Writes: claim_marks.
-- Internal: called only by claims.
CREATE OR REPLACE FUNCTION boardreadyops_note_claim_walk(
    p_installation_id bigint, p_walked bigint, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_long_walk CONSTANT bigint := 30;
    v_late_commit CONSTANT interval := interval '30 seconds';
    v_rescan_at timestamptz := p_now + interval '5 minutes';
    v_mark claim_marks;
    v_begin timestamptz;
BEGIN
    IF p_walked <= v_long_walk THEN
        PERFORM FROM claim_marks WHERE installation_id = p_installation_id AND rescan_at <= p_now FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            DELETE FROM claim_marks WHERE installation_id = p_installation_id;
        END IF;
        RETURN;
    END IF;
    SELECT * INTO v_mark FROM claim_marks WHERE installation_id = p_installation_id FOR UPDATE SKIP LOCKED;
    IF v_mark.installation_id IS NULL AND EXISTS (SELECT FROM claim_marks WHERE installation_id = p_installation_id) THEN
        RETURN;
    END IF;
    -- From an old mark that still holds: what lies before it was looked at then.
    v_begin := LEAST(p_now - v_late_commit, (SELECT run.queued_at FROM release_runs AS run
        WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
            AND run.superseded_by IS NULL AND run.needs = '{}'
            AND (run.installation_id, run.queued_at) >= (p_installation_id,
                CASE WHEN v_mark.rescan_at > p_now THEN v_mark.queued_at ELSE '-infinity' END)
            AND (run.installation_id, run.queued_at) <= (p_installation_id, p_now)
        ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1));
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
