-- Purpose: someone with write access lets a fork's run go ahead. No status and no version changes: who and when is
--          recorded, the clock starts anew, and the run becomes claimable or its dispatch due.
-- Outcomes, in this order: not_found (unknown, or another installation's) | existing (approved before, or needing none) |
--   terminal (ended while it waited) | applied. Idempotent.
-- Locks: run -> attempt -> outbox/publication. Writes: run, outbox, publication.
CREATE OR REPLACE FUNCTION boardreadyops_approve_release_run(
    p_installation_id bigint, p_release_run_id uuid, p_approved_by text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = p_release_run_id AND installation_id = p_installation_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_run.approval <> 'waiting' THEN
        RETURN 'existing';
    END IF;
    IF v_run.finished_at IS NOT NULL THEN
        RETURN 'terminal';
    END IF;

    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at);
    UPDATE release_runs SET approval = 'approved', approved_by = left(p_approved_by, 200), approved_at = v_now,
        queued_at = v_now, due_at = boardreadyops_due_at(installation_id, status, 'approved', v_now)
    WHERE id = v_run.id RETURNING * INTO STRICT v_run;
    SELECT * INTO v_attempt FROM release_run_attempts WHERE id = v_run.execution_attempt_id FOR NO KEY UPDATE;
    PERFORM boardreadyops_request_dispatch(v_run, v_attempt, v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN 'applied';
END
$$;
