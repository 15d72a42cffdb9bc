-- Purpose: the oldest run of one installation that this runner may have, locked; runs that another claim holds are skipped.
--          While an old transaction keeps dead rows alive, claimed runs stay in the index ahead of the waiting ones. A
--          mark then says where the waiting ones begin: see note_claim_walk.
-- Outcomes: a run, or null when there is none. A run below the mark (it came with its repository from another
--   installation) is found by the next walk from the beginning, after five minutes. A run with needs is found whether it
--   lies below the mark or not.
-- Locks: the mark (never waited for) -> the run. Writes: claim_marks.
-- Internal: called only by next_claimable_run.
CREATE OR REPLACE FUNCTION boardreadyops_oldest_claimable_run(
    p_registration runner_registrations, p_installation_id bigint, p_capabilities text[], p_now timestamptz)
RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_from timestamptz;
    v_walked bigint;
    v_run release_runs;
BEGIN
    SELECT queued_at INTO v_from FROM claim_marks WHERE installation_id = p_installation_id AND rescan_at > p_now;
    IF NOT FOUND THEN
        -- One claim walks from the beginning, the others meanwhile go on from the old mark.
        PERFORM FROM claim_marks WHERE installation_id = p_installation_id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            SELECT queued_at INTO v_from FROM claim_marks WHERE installation_id = p_installation_id;
        END IF;
    END IF;
    IF v_from IS NOT NULL THEN
        v_from := LEAST(v_from, (SELECT run.queued_at FROM release_runs AS run
            WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
                AND run.superseded_by IS NULL AND run.needs <> '{}' AND run.installation_id = p_installation_id
                AND boardreadyops_capabilities_meet(p_capabilities, run.needs)
            ORDER BY run.queued_at LIMIT 1));
    END IF;

    -- Pairs, and not an equal installation: only release_runs_claimable has this order, whatever statistics say.
    v_walked := COALESCE(pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass), 0);
    SELECT * INTO v_run FROM release_runs AS run
    WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
        AND run.superseded_by IS NULL
        AND (run.installation_id, run.queued_at) >= (p_installation_id, COALESCE(v_from, '-infinity'))
        AND (run.installation_id, run.queued_at) <= (p_installation_id, p_now)
        AND (p_registration.repository_ids IS NULL OR run.repository_id = ANY (p_registration.repository_ids))
        AND (run.needs = '{}' OR boardreadyops_capabilities_meet(p_capabilities, run.needs))
    ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    v_walked := COALESCE(pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass), 0) - v_walked;
    IF p_registration.repository_ids IS NULL THEN
        PERFORM boardreadyops_note_claim_walk(p_installation_id, v_walked, p_now);
    END IF;
    RETURN v_run;
END
$$;
