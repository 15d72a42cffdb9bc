-- Purpose: an open ref was observed: insert or return the run of its head by the natural key, supersede the others, owe
--          GitHub the Check Run; one transaction. An observation older than what is stored changes no head: its commit,
--          if unknown, is recorded as superseded by the authoritative run, and GitHub is asked.
-- Outcomes, in this order: not_found (no such repository of this installation) | disabled | created | existing |
--   superseded (late commit, on record) | ignored (late commit, nothing to succeed it) | moved_on (outdated confirm).
--   `confirm_requested` says that the relay will ask GitHub. Idempotent: a repeat answers existing.
-- Locks: installation, repository (shared) -> ref -> runs -> attempt -> lease -> outbox/publication.
-- Writes: refs, runs, attempts, events, leases, publications, outbox.
CREATE OR REPLACE FUNCTION boardreadyops_enqueue_release_run_with_outbox(
    p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text,
    p_base_ref text, p_base_sha text, p_draft boolean, p_trust_mode text, p_observed_at timestamptz,
    p_confirmed_observation bigint DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (enqueue_outcome text, release_run_id uuid, confirm_requested boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_enabled boolean;
    v_ref refs;
    v_adoption text;
    v_now timestamptz;
    v_run_id uuid;
BEGIN
    v_enabled := boardreadyops_lock_tenant(p_installation_id, p_repository_id);
    IF v_enabled IS NOT TRUE THEN
        RETURN QUERY SELECT CASE WHEN v_enabled IS NULL THEN 'not_found' ELSE 'disabled' END, NULL::uuid, false;
        RETURN;
    END IF;
    SELECT p_repository_id, p_installation_id, p_ref, p_pull_request_number, true, p_draft, p_base_ref, p_base_sha,
           p_commit_sha, p_observed_at, 0, NULL, p_trust_mode, NULL INTO v_ref;
    v_adoption := boardreadyops_adopt_observation(v_ref, p_confirmed_observation);
    SELECT * INTO STRICT v_ref FROM refs AS stored WHERE stored.repository_id = p_repository_id AND stored.ref = p_ref;
    v_now := COALESCE(p_now, clock_timestamp());
    IF v_adoption = 'moved_on' THEN
        RETURN QUERY SELECT 'moved_on'::text, NULL::uuid, false;
        RETURN;
    END IF;
    IF v_adoption IN ('adopted', 'same') THEN
        RETURN QUERY SELECT head.enqueue_outcome, head.release_run_id, false
            FROM boardreadyops_open_head_run(v_ref, v_now) AS head;
        RETURN;
    END IF;

    SELECT run.id INTO v_run_id FROM release_runs AS run
        WHERE run.repository_id = p_repository_id AND run.ref = p_ref AND run.commit_sha = p_commit_sha;
    IF FOUND OR v_adoption = 'ask' OR v_ref.release_run_id IS NULL THEN
        PERFORM boardreadyops_request_confirm(v_ref, v_now);
        RETURN QUERY SELECT CASE WHEN v_run_id IS NULL THEN 'ignored' ELSE 'existing' END, v_run_id, true;
        RETURN;
    END IF;
    v_run_id := gen_random_uuid();
    v_ref.base_sha := p_base_sha;  -- the late commit's own, not that of the head
    PERFORM boardreadyops_insert_release_run(v_run_id, v_ref, p_commit_sha, p_trust_mode, v_ref.release_run_id, v_now);
    PERFORM boardreadyops_request_confirm(v_ref, v_now);
    RETURN QUERY SELECT 'superseded'::text, v_run_id, true;
END
$$;
