-- Purpose: a closed ref was observed (a pull request closed or merged): its open runs end as cancelled.
-- Outcomes, in this order: not_found (no such repository of this installation) | closed (adopted, or known) | older |
--   ask | moved_on; with the ids of the runs cancelled. `older` and `ask` make the relay look at GitHub. Idempotent.
-- Locks: ref -> runs in ascending id -> attempt -> lease -> outbox/publication. Writes: refs, runs, attempts, events,
--   leases, publications, outbox.
CREATE OR REPLACE FUNCTION boardreadyops_close_ref(
    p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text,
    p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamptz,
    p_confirmed_observation bigint DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (close_outcome text, cancelled_run_ids uuid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_ref refs;
    v_adoption text;
    v_cancelled uuid[] := '{}';
    v_now timestamptz;
BEGIN
    IF boardreadyops_lock_tenant(p_installation_id, p_repository_id) IS NULL THEN
        RETURN QUERY SELECT 'not_found'::text, v_cancelled;
        RETURN;
    END IF;
    SELECT p_repository_id, p_installation_id, p_ref, p_pull_request_number, false, p_draft, p_base_ref, p_base_sha,
           p_commit_sha, p_observed_at, 0, NULL, 'trusted', NULL INTO v_ref;
    v_adoption := boardreadyops_adopt_observation(v_ref, p_confirmed_observation);
    v_now := COALESCE(p_now, clock_timestamp());
    IF v_adoption NOT IN ('adopted', 'same') THEN
        IF v_adoption IN ('older', 'ask') THEN
            PERFORM boardreadyops_request_confirm(v_ref, v_now);
        END IF;
        RETURN QUERY SELECT v_adoption, v_cancelled;
        RETURN;
    END IF;

    v_cancelled := boardreadyops_cancel_ref_runs(v_ref, 'pull_request_closed', v_now);
    RETURN QUERY SELECT 'closed'::text, v_cancelled;
END
$$;
