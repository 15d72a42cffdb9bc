-- Purpose: stores the id of the Check Run that GitHub created for this publication. For a run that a workflow will
--          execute it also moves the planned attempt queued -> dispatching (check_run_created); a runner-executed run
--          is untouched.
-- Outcomes: applied (also for the same id again); stale when another claim has the row by now or another id is stored;
--   not_found.
-- Locks: run -> attempt -> publication. Writes: publications; attempt, event and outbox for a
--   planned dispatch.
CREATE OR REPLACE FUNCTION boardreadyops_record_check_run(
    p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_publication publications;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = (SELECT release_run_id FROM publications WHERE id = p_publication_id) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_run.execution_backend = 'actions' THEN
        SELECT * INTO v_attempt FROM release_run_attempts WHERE id = v_run.execution_attempt_id FOR NO KEY UPDATE;
    END IF;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF v_publication.generation IS DISTINCT FROM p_generation OR NOT v_publication.leased
        OR v_publication.check_run_id <> p_check_run_id THEN
        RETURN 'stale';
    END IF;

    UPDATE publications SET check_run_id = p_check_run_id WHERE id = p_publication_id;
    IF v_attempt.status = 'queued' AND v_publication.retry_id = v_run.retry_id THEN
        v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'dispatching', 'check_run_created', v_now);
        PERFORM boardreadyops_request_dispatch(v_run, v_attempt, v_now);
    END IF;
    RETURN 'applied';
END
$$;
