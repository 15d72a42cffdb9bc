-- Purpose: asks a terminal run anew on someone's word. The caller says which asking it looked at, so that a doubled click or
--          delivery retries once.
-- Outcomes, in this order: not_found (unknown, or another installation's, or a disabled one) | existing (the number is
--   already the expected one plus one) | stale (any other number) | superseded (not the head of an open ref) |
--   not_terminal | created. The retry that holds now comes back with each but not_found.
-- Locks: installation, repository (shared) -> ref -> run -> publication. Writes: ref, run, planned attempt, event,
--   publication.
CREATE OR REPLACE FUNCTION boardreadyops_retry_release_run(
    p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (retry_outcome text, retry_id uuid, retry_number integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_ref refs;
    v_outcome text;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = p_release_run_id;
    IF boardreadyops_lock_tenant(p_installation_id, v_run.repository_id) IS NOT TRUE THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::uuid, NULL::integer;
        RETURN;
    END IF;
    SELECT * INTO v_ref FROM refs WHERE repository_id = v_run.repository_id AND ref = v_run.ref FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_run FROM release_runs AS run WHERE run.id = p_release_run_id FOR NO KEY UPDATE;
    v_outcome := CASE
        WHEN v_run.retry_number = p_expected_retry_number + 1 THEN 'existing'
        WHEN v_run.retry_number IS DISTINCT FROM p_expected_retry_number THEN 'stale'
        WHEN v_ref.open IS NOT TRUE OR v_ref.head_sha <> v_run.commit_sha THEN 'superseded'
        WHEN v_run.finished_at IS NULL THEN 'not_terminal'
        ELSE 'created' END;
    IF v_outcome = 'created' THEN
        v_run := boardreadyops_ask_again(v_run, 'retry_requested', COALESCE(p_now, clock_timestamp()));
        -- The head's run it is already; written, so that a repeatable read that opens another run fails instead.
        UPDATE refs SET release_run_id = v_run.id WHERE repository_id = v_run.repository_id AND ref = v_run.ref;
    END IF;
    RETURN QUERY SELECT v_outcome, v_run.retry_id, v_run.retry_number::integer;
END
$$;
