-- Purpose: makes the run of a ref's head the ref's only open run: created, or found again, or asked anew when it had
--          ended without an answer of its own (superseded, or cancelled by neither a person nor policy); every other open
--          run of the ref is superseded by it.
-- Outcomes: created | existing, with the run's id.
-- Locks: runs of the ref in ascending id -> attempt -> lease -> publication; the caller holds the ref.
-- Writes: runs, attempts, events, leases, publications, refs.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_head_run(p_ref refs, p_now timestamptz)
RETURNS TABLE (enqueue_outcome text, release_run_id uuid)
LANGUAGE plpgsql AS $$
DECLARE
    v_head release_runs;
    v_head_id uuid;
    v_replaced release_runs;
    v_created boolean;
BEGIN
    -- By id, for the order of locks. At most one run of a ref is open, and the index that sees to it finds that one, so
    -- the cost does not grow with the commits that the ref has seen.
    PERFORM FROM release_runs AS run WHERE run.id IN (
        SELECT open.id FROM release_runs AS open WHERE open.repository_id = p_ref.repository_id AND open.ref = p_ref.ref
            AND open.status IN ('queued', 'dispatched', 'running') AND open.superseded_by IS NULL
        UNION ALL
        SELECT head.id FROM release_runs AS head WHERE head.repository_id = p_ref.repository_id
            AND head.ref = p_ref.ref AND head.commit_sha = p_ref.head_sha)
        ORDER BY run.id FOR NO KEY UPDATE;
    SELECT * INTO v_head FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id
        AND run.ref = p_ref.ref AND run.commit_sha = p_ref.head_sha;
    v_created := v_head.id IS NULL;
    v_head_id := COALESCE(v_head.id, gen_random_uuid());
    -- The older run ends first, naming a successor that may be stored only below: the reference is deferred.
    FOR v_replaced IN SELECT * FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id
        AND run.ref = p_ref.ref AND run.status IN ('queued', 'dispatched', 'running') AND run.superseded_by IS NULL
        AND run.id <> v_head_id
    LOOP
        v_replaced.superseded_by := v_head_id;
        PERFORM boardreadyops_end_release_run(v_replaced, 'superseded', 'newer_commit', p_now);
    END LOOP;

    IF v_created THEN
        PERFORM boardreadyops_insert_release_run(v_head_id, p_ref, p_ref.head_sha, p_ref.trust_mode, NULL, p_now);
    ELSIF v_head.status = 'superseded' OR (v_head.status = 'cancelled'
        AND v_head.reason_code NOT IN ('cancelled_by_user', 'policy_skipped')) THEN
        PERFORM boardreadyops_ask_again(v_head, 'head_returned', p_now);
    END IF;
    IF v_head.base_sha IS DISTINCT FROM p_ref.base_sha AND NOT v_created THEN
        UPDATE release_runs SET base_sha = p_ref.base_sha WHERE id = v_head_id;
    END IF;
    UPDATE refs SET release_run_id = v_head_id, level_due_at = NULL WHERE repository_id = p_ref.repository_id AND ref = p_ref.ref;
    RETURN QUERY SELECT CASE WHEN v_created THEN 'created' ELSE 'existing' END, v_head_id;
END
$$;
