-- Purpose: a branch, tag or merge-queue ref was pushed. It is taken when it continues what is stored (`before` is the head)
--          with a commit never seen on this ref, or the ref is new; else GitHub is asked, since pushes carry no order.
--          A commit of null closes the ref and cancels its open runs, of a disabled tenant too; GitHub is asked when the ref
--          was deleted before and is open again, since a late repeat of that deletion looks just the same.
-- Outcomes, in this order: not_found | disabled | moved_on (outdated confirm) | created | existing | closed | ask.
-- Locks: installation, repository (shared) -> ref -> runs -> attempt -> lease -> outbox/publication.
-- Writes: refs, runs, attempts, events, leases, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_enqueue_pushed_ref(
    p_installation_id bigint, p_repository_id bigint, p_ref text, p_before text, p_commit_sha text,
    p_confirmed_observation bigint DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (enqueue_outcome text, release_run_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_enabled boolean;
    v_ref refs;
    v_new boolean;
BEGIN
    v_enabled := boardreadyops_lock_tenant(p_installation_id, p_repository_id);
    IF v_enabled IS NULL OR NOT v_enabled AND p_commit_sha IS NOT NULL THEN
        RETURN QUERY SELECT CASE WHEN v_enabled IS NULL THEN 'not_found' ELSE 'disabled' END, NULL::uuid;
        RETURN;
    END IF;
    INSERT INTO refs (repository_id, installation_id, ref, open, draft, head_sha, observed_at, trust_mode)
    SELECT p_repository_id, p_installation_id, p_ref, p_commit_sha IS NOT NULL, false,
           COALESCE(p_commit_sha, p_before), COALESCE(p_now, clock_timestamp()), 'trusted'
    WHERE p_confirmed_observation IS NULL ON CONFLICT (repository_id, ref) DO NOTHING;
    v_new := FOUND;
    SELECT * INTO v_ref FROM refs AS stored
        WHERE stored.repository_id = p_repository_id AND stored.ref = p_ref FOR NO KEY UPDATE;
    v_now := COALESCE(p_now, clock_timestamp());
    IF p_confirmed_observation IS DISTINCT FROM v_ref.observation AND p_confirmed_observation IS NOT NULL THEN
        RETURN QUERY SELECT 'moved_on'::text, NULL::uuid;
        RETURN;
    END IF;
    IF NOT v_new AND p_confirmed_observation IS NULL AND p_commit_sha = v_ref.head_sha AND v_ref.open THEN
        -- Created twice: the deletion between the two may still be under way, so from now on a deletion is asked about.
        UPDATE refs SET deleted_at = v_now WHERE repository_id = p_repository_id AND ref = p_ref
            AND p_before ~ '^0+$';
        RETURN QUERY SELECT 'existing'::text, v_ref.release_run_id;
        RETURN;
    END IF;
    IF NOT v_new AND p_confirmed_observation IS NULL AND (v_ref.head_sha IS DISTINCT FROM p_before
        OR p_commit_sha IS NULL AND v_ref.open AND v_ref.deleted_at IS NOT NULL
        OR EXISTS (SELECT FROM release_runs AS seen WHERE seen.repository_id = p_repository_id AND seen.ref = p_ref
            AND seen.commit_sha = p_commit_sha)) THEN
        UPDATE refs SET observation = observation + 1 WHERE repository_id = p_repository_id AND ref = p_ref;
        PERFORM boardreadyops_request_confirm(v_ref, v_now);
        RETURN QUERY SELECT 'ask'::text, NULL::uuid;
        RETURN;
    END IF;

    UPDATE refs AS stored SET open = p_commit_sha IS NOT NULL, head_sha = COALESCE(p_commit_sha, stored.head_sha),
        observation = stored.observation + 1, observed_at = v_now,
        deleted_at = CASE WHEN p_commit_sha IS NULL THEN v_now ELSE stored.deleted_at END
    WHERE stored.repository_id = p_repository_id AND stored.ref = p_ref RETURNING * INTO STRICT v_ref;
    IF v_ref.open THEN
        RETURN QUERY SELECT head.enqueue_outcome, head.release_run_id FROM boardreadyops_open_head_run(v_ref, v_now) AS head;
        RETURN;
    END IF;
    PERFORM boardreadyops_cancel_ref_runs(v_ref, 'ref_deleted', v_now);
    RETURN QUERY SELECT 'closed'::text, NULL::uuid;
END
$$;
