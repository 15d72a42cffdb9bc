-- Purpose: the run that this runner gets next, locked; runs that another claim holds are skipped. Installations take turns:
--          the search starts behind the installation that was served last and inside one goes by age. `queued_at` may lie
--          ahead, for a run that was given back and waits.
-- Outcomes: a run, or null when there is none.
-- Locks: a claim mark (never waited for) -> the run. Writes: claim_marks; the turn, a sequence: it is advisory, so that it
--   needs no lock and survives no crash it should not.
-- Internal: called only by claim_runner_lease.
CREATE OR REPLACE FUNCTION boardreadyops_next_claimable_run(
    p_registration runner_registrations, p_capabilities text[], p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_after bigint;
    v_served bigint;
    v_marked bigint;
    v_walked bigint;
    v_run release_runs;
BEGIN
    IF p_registration.installation_id IS NOT NULL THEN
        RETURN boardreadyops_oldest_claimable_run(
            p_registration, p_registration.installation_id, p_capabilities, p_now);
    END IF;
    SELECT last_value INTO v_served FROM claim_turn;
    v_after := v_served;
    LOOP
        SELECT min(installation_id) INTO v_marked FROM claim_marks WHERE installation_id > v_after;
        IF v_marked IS DISTINCT FROM v_after + 1 THEN
            v_walked := COALESCE(pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass), 0);
            SELECT * INTO v_run FROM release_runs AS run
            WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
                AND run.superseded_by IS NULL AND run.installation_id > v_after
                AND run.installation_id < COALESCE(v_marked, 9223372036854775807) AND run.queued_at <= p_now
                AND (run.needs = '{}' OR boardreadyops_capabilities_meet(p_capabilities, run.needs))
            ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
            IF FOUND THEN
                PERFORM boardreadyops_note_claim_walk(v_run.installation_id,
                    pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass) - v_walked, p_now);
            END IF;
        END IF;
        IF v_run.id IS NULL AND v_marked IS NOT NULL THEN
            v_run := boardreadyops_oldest_claimable_run(p_registration, v_marked, p_capabilities, p_now);
        END IF;
        IF v_run.id IS NOT NULL THEN
            PERFORM setval('claim_turn', v_run.installation_id);
            RETURN v_run;
        END IF;
        EXIT WHEN v_marked IS NULL AND v_served = 0;
        -- The last one was reached: once more from the first.
        v_after := COALESCE(v_marked, 0);
        v_served := CASE WHEN v_marked IS NULL THEN 0 ELSE v_served END;
    END LOOP;
    RETURN NULL;
END
$$;
