-- Purpose: stores a new run at version 0 with the Check Run it owes. A fork's run waits for approval, or ends at once as
--          policy_skipped, as its installation's fork policy says. A run stored with a successor ends superseded at once.
-- Outcomes: the run as stored.
-- Locks: the new rows. Writes: run, planned attempt, publication; an event when it ends at once.
-- Internal: called only by guarded functions, which hold the ref.
CREATE OR REPLACE FUNCTION boardreadyops_insert_release_run(
    p_id uuid, p_ref refs, p_commit_sha text, p_trust_mode text, p_superseded_by uuid, p_now timestamptz)
RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_fork_policy text;
    v_backend text;
    v_approval text;
    v_run release_runs;
BEGIN
    SELECT installation.fork_policy, COALESCE(repository.execution_backend, installation.execution_backend, 'runner')
        INTO STRICT v_fork_policy, v_backend
        FROM repositories AS repository JOIN installations AS installation ON installation.id = repository.installation_id
        WHERE repository.id = p_ref.repository_id;
    v_approval := CASE WHEN p_trust_mode = 'fork' AND v_fork_policy = 'approve' THEN 'waiting' ELSE 'not_needed' END;
    INSERT INTO release_runs (id, installation_id, repository_id, ref, pull_request_number, commit_sha, base_sha,
                              execution_backend, trust_mode, approval, superseded_by, due_at,
                              created_at, queued_at, updated_at)
    VALUES (p_id, p_ref.installation_id, p_ref.repository_id, p_ref.ref, p_ref.pull_request_number, p_commit_sha,
            p_ref.base_sha, v_backend, p_trust_mode, v_approval, p_superseded_by,
            boardreadyops_due_at(p_ref.installation_id, 'queued', v_approval, p_now), p_now, p_now, p_now)
    RETURNING * INTO STRICT v_run;
    v_run.execution_attempt_id := boardreadyops_plan_attempt(v_run, p_now);
    UPDATE release_runs SET execution_attempt_id = v_run.execution_attempt_id
        WHERE id = p_id AND v_run.execution_attempt_id IS NOT NULL;
    PERFORM boardreadyops_open_publication(v_run, p_now);
    IF p_superseded_by IS NOT NULL THEN
        RETURN boardreadyops_end_release_run(v_run, 'superseded', 'newer_commit', p_now);
    END IF;
    IF p_trust_mode = 'fork' AND v_fork_policy = 'skip' THEN
        RETURN boardreadyops_end_release_run(v_run, 'cancelled', 'policy_skipped', p_now);
    END IF;
    RETURN v_run;
END
$$;
