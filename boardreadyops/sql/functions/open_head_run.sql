-- Purpose: makes the run of a ref's head the ref's only open run: created, or found again, or asked anew when it had
--          ended without an answer of its own (superseded, or cancelled by neither a person nor policy); every other open
--          run of the ref is superseded by it.
-- Outcomes: created | existing, with the run's id.
-- Locks: runs of the ref in ascending id -> attempt -> lease -> publication; the caller holds the ref.
-- Writes: runs, attempts, events, leases, publications, refs.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_head_run(p_ref refs, p_trust_mode text, p_now timestamptz)
RETURNS TABLE (enqueue_outcome text, release_run_id uuid)
LANGUAGE plpgsql AS $$
DECLARE
    v_head release_runs;
    v_head_id uuid;
    v_replaced release_runs;
    v_created boolean;
BEGIN
    PERFORM FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id AND run.ref = p_ref.ref
        AND (run.status IN ('queued', 'dispatched', 'running') OR run.commit_sha = p_ref.head_sha)
        ORDER BY run.id FOR NO KEY UPDATE;
    SELECT * INTO v_head FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id
        AND run.ref = p_ref.ref AND run.commit_sha = p_ref.head_sha;
    v_created := v_head.id IS NULL;
    v_head_id := COALESCE(v_head.id, gen_random_uuid());
    -- Naming the successor first takes the older runs out of the one-open-run index; their end follows below.
    UPDATE release_runs AS run SET superseded_by = v_head_id WHERE run.repository_id = p_ref.repository_id
        AND run.ref = p_ref.ref AND run.status IN ('queued', 'dispatched', 'running') AND run.id <> v_head_id;

    IF v_created THEN
        PERFORM boardreadyops_insert_release_run(v_head_id, p_ref, p_ref.head_sha, p_trust_mode, NULL, p_now);
    ELSIF v_head.status = 'superseded' OR (v_head.status = 'cancelled'
        AND v_head.reason_code NOT IN ('cancelled_by_user', 'policy_skipped')) THEN
        PERFORM boardreadyops_ask_again(v_head, 'head_returned', p_now);
    END IF;
    FOR v_replaced IN SELECT * FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id
        AND run.ref = p_ref.ref AND run.status IN ('queued', 'dispatched', 'running') AND run.id <> v_head_id
        ORDER BY run.id
    LOOP
        PERFORM boardreadyops_end_release_run(v_replaced, 'superseded', 'newer_commit', p_now);
    END LOOP;
    UPDATE refs SET release_run_id = v_head_id WHERE repository_id = p_ref.repository_id AND ref = p_ref.ref;
    RETURN QUERY SELECT CASE WHEN v_created THEN 'created' ELSE 'existing' END, v_head_id;
END
$$;
