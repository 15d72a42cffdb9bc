-- 0027 ref heads, enqueue, supersession and cancellation.

CREATE TABLE refs (
    repository_id bigint NOT NULL,
    installation_id bigint NOT NULL,
    ref text NOT NULL CHECK (ref LIKE 'refs/%' AND length(ref) <= 500),
    pull_request_number integer CHECK (pull_request_number > 0),
    open boolean NOT NULL,
    draft boolean NOT NULL,
    base_ref text CHECK (length(base_ref) <= 500),
    base_sha text,
    head_sha text NOT NULL CHECK (head_sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
    observed_at timestamptz NOT NULL,
    observation bigint NOT NULL DEFAULT 0,
    release_run_id uuid REFERENCES release_runs (id) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (repository_id, ref),
    FOREIGN KEY (repository_id, installation_id) REFERENCES repositories (id, installation_id) ON UPDATE CASCADE
);

--! begin functions/end_release_run.sql
-- Purpose: ends an open run with everything that hangs on it: its attempt under the same terminal name, its lease, and
--          what its Check Run tells. The caller sets superseded_by or cancelled_by in p_run.
-- Outcomes: the run as stored.
-- Locks: attempt -> lease -> publication; the caller holds the run. Writes: run, attempt, events, lease, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_end_release_run(
    p_run release_runs, p_next_status text, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := GREATEST(p_now, p_run.updated_at);
    v_attempt release_run_attempts;
    v_run release_runs;
BEGIN
    SELECT * INTO v_attempt FROM release_run_attempts WHERE id = p_run.execution_attempt_id FOR NO KEY UPDATE;
    IF FOUND AND v_attempt.finished_at IS NULL THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_next_status, p_reason_code, v_now);
    END IF;
    v_run := boardreadyops_move_release_run(p_run, p_next_status, p_reason_code, v_now);
    PERFORM boardreadyops_settle_lease(v_run, v_attempt, v_now);
    PERFORM boardreadyops_raise_publication(v_run, v_now);
    RETURN v_run;
END
$$;
--! end
--! begin functions/ask_again.sql
-- Purpose: asks a terminal run anew: a new retry with a new Check Run; decision, successor and attempt are cleared.
-- Outcomes: the run as stored, queued.
-- Locks: publication; the caller holds ref and run. Writes: run, event, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_ask_again(
    p_run release_runs, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := GREATEST(p_now, p_run.updated_at);
    v_run release_runs := p_run;
BEGIN
    v_run.retry_id := gen_random_uuid();
    v_run.retry_number := p_run.retry_number + 1;
    v_run.decision := NULL;
    v_run.superseded_by := NULL;
    v_run.cancelled_by := NULL;
    v_run.execution_attempt_id := NULL;
    v_run := boardreadyops_move_release_run(v_run, 'queued', p_reason_code, v_now);
    PERFORM boardreadyops_open_publication(v_run, v_now);
    RETURN v_run;
END
$$;
--! end
--! begin functions/lock_tenant.sql
-- Purpose: holds installation and repository as they are while work is opened, so that a suspension or removal either
--          sees that work or stops it.
-- Outcomes: true when both are enabled; false when one is suspended, removed or disabled; null when the repository is
--   unknown or another installation's.
-- Locks: installation, then repository, both shared. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_lock_tenant(p_installation_id bigint, p_repository_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_installation_open boolean;
    v_enabled boolean;
BEGIN
    SELECT NOT (suspended OR removed) INTO v_installation_open FROM installations
        WHERE id = p_installation_id FOR SHARE;
    SELECT enabled INTO v_enabled FROM repositories
        WHERE id = p_repository_id AND installation_id = p_installation_id FOR SHARE;
    RETURN v_enabled AND v_installation_open;
END
$$;
--! end
--! begin functions/adopt_observation.sql
-- Purpose: takes one observation of a ref at its own time, whatever order observations arrive in.
-- Outcomes: adopted (new or later: the ref now is what was observed) | same (nothing new) | older | ask (equal time,
--   different content: only GitHub knows) | moved_on (a confirm that is no longer the newest word).
-- Locks: the ref. Writes: refs; `observation` rises with every later and every equal but different observation.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_adopt_observation(p_observed refs, p_confirmed_observation bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_stored refs;
    v_same boolean;
BEGIN
    INSERT INTO refs SELECT p_observed.* ON CONFLICT (repository_id, ref) DO NOTHING;
    IF FOUND THEN
        RETURN 'adopted';
    END IF;
    SELECT * INTO STRICT v_stored FROM refs
        WHERE repository_id = p_observed.repository_id AND ref = p_observed.ref FOR NO KEY UPDATE;
    v_same := (v_stored.open, v_stored.draft, v_stored.head_sha, v_stored.base_ref, v_stored.base_sha)
        IS NOT DISTINCT FROM
        (p_observed.open, p_observed.draft, p_observed.head_sha, p_observed.base_ref, p_observed.base_sha);
    IF p_confirmed_observation IS NOT NULL AND (p_confirmed_observation <> v_stored.observation
        OR p_observed.observed_at < v_stored.observed_at) THEN
        RETURN 'moved_on';
    END IF;
    IF p_observed.observed_at < v_stored.observed_at THEN
        RETURN 'older';
    END IF;
    IF p_observed.observed_at = v_stored.observed_at AND v_same THEN
        RETURN 'same';
    END IF;
    IF p_observed.observed_at = v_stored.observed_at AND p_confirmed_observation IS NULL THEN
        UPDATE refs SET observation = observation + 1
            WHERE repository_id = p_observed.repository_id AND ref = p_observed.ref;
        RETURN 'ask';
    END IF;

    UPDATE refs SET
        open = p_observed.open, draft = p_observed.draft, head_sha = p_observed.head_sha,
        base_ref = p_observed.base_ref, base_sha = p_observed.base_sha,
        observed_at = p_observed.observed_at, observation = observation + 1
    WHERE repository_id = p_observed.repository_id AND ref = p_observed.ref;
    RETURN 'adopted';
END
$$;
--! end
--! begin functions/insert_release_run.sql
-- Purpose: stores a new run at version 0 with the Check Run it owes. A fork's run waits for approval, or ends at once as
--          policy_skipped, as its installation's fork policy says. A run stored with a successor ends superseded at once.
-- Outcomes: the run as stored.
-- Locks: the new rows. Writes: run, publication; an event when it ends at once.
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
--! end
--! begin functions/open_head_run.sql
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
--! end
--! begin functions/request_confirm.sql
-- Purpose: asks the relay to look at the pull request on GitHub, once however often it is asked before it looked.
-- Outcomes: at most one open request per ref.
-- Locks: outbox. Writes: outbox.
-- Internal: called only by guarded functions, which hold the ref.
CREATE OR REPLACE FUNCTION boardreadyops_request_confirm(p_ref refs, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, available_at, created_at)
    VALUES ('confirm_pull_request', p_ref.installation_id, p_ref.repository_id, p_ref.ref, p_ref.pull_request_number,
            p_now, p_now)
    ON CONFLICT (repository_id, ref) WHERE kind = 'confirm_pull_request' AND settled_at IS NULL DO NOTHING
$$;
--! end
--! begin functions/enqueue_release_run_with_outbox.sql
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
           p_commit_sha, p_observed_at, 0, NULL INTO v_ref;
    v_adoption := boardreadyops_adopt_observation(v_ref, p_confirmed_observation);
    SELECT * INTO STRICT v_ref FROM refs AS stored WHERE stored.repository_id = p_repository_id AND stored.ref = p_ref;
    v_now := COALESCE(p_now, clock_timestamp());
    IF v_adoption = 'moved_on' THEN
        RETURN QUERY SELECT 'moved_on'::text, NULL::uuid, false;
        RETURN;
    END IF;
    IF v_adoption IN ('adopted', 'same') THEN
        RETURN QUERY SELECT head.enqueue_outcome, head.release_run_id, false
            FROM boardreadyops_open_head_run(v_ref, p_trust_mode, v_now) AS head;
        RETURN;
    END IF;

    PERFORM boardreadyops_request_confirm(v_ref, v_now);
    SELECT run.id INTO v_run_id FROM release_runs AS run
        WHERE run.repository_id = p_repository_id AND run.ref = p_ref AND run.commit_sha = p_commit_sha;
    IF FOUND THEN
        RETURN QUERY SELECT 'existing'::text, v_run_id, true;
        RETURN;
    END IF;
    IF v_adoption = 'ask' OR v_ref.release_run_id IS NULL THEN
        RETURN QUERY SELECT 'ignored'::text, NULL::uuid, true;
        RETURN;
    END IF;
    v_run_id := gen_random_uuid();
    PERFORM boardreadyops_insert_release_run(v_run_id, v_ref, p_commit_sha, p_trust_mode, v_ref.release_run_id, v_now);
    RETURN QUERY SELECT 'superseded'::text, v_run_id, true;
END
$$;
--! end
--! begin functions/close_ref.sql
-- Purpose: a closed ref was observed (a pull request closed or merged): its open runs end as cancelled.
-- Outcomes, in this order: not_found (no such repository of this installation) | closed (adopted, or known) | older |
--   ask | moved_on; with the ids of the runs cancelled. `older` and `ask` make the relay look at GitHub. Idempotent.
-- Locks: ref -> runs in ascending id -> attempt -> lease -> publication. Writes: refs, runs, attempts, events, leases,
--   publications, outbox.
CREATE OR REPLACE FUNCTION boardreadyops_close_ref(
    p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text,
    p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamptz,
    p_confirmed_observation bigint DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (close_outcome text, cancelled_run_ids uuid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_ref refs;
    v_adoption text;
    v_run release_runs;
    v_cancelled uuid[] := '{}';
    v_now timestamptz;
BEGIN
    IF boardreadyops_lock_tenant(p_installation_id, p_repository_id) IS NULL THEN
        RETURN QUERY SELECT 'not_found'::text, v_cancelled;
        RETURN;
    END IF;
    SELECT p_repository_id, p_installation_id, p_ref, p_pull_request_number, false, p_draft, p_base_ref, p_base_sha,
           p_commit_sha, p_observed_at, 0, NULL INTO v_ref;
    v_adoption := boardreadyops_adopt_observation(v_ref, p_confirmed_observation);
    v_now := COALESCE(p_now, clock_timestamp());
    IF v_adoption IN ('older', 'ask') THEN
        PERFORM boardreadyops_request_confirm(v_ref, v_now);
    END IF;
    IF v_adoption NOT IN ('adopted', 'same') THEN
        RETURN QUERY SELECT v_adoption, v_cancelled;
        RETURN;
    END IF;

    FOR v_run IN SELECT * FROM release_runs AS run WHERE run.repository_id = p_repository_id AND run.ref = p_ref
        AND run.status IN ('queued', 'dispatched', 'running') ORDER BY run.id FOR NO KEY UPDATE
    LOOP
        PERFORM boardreadyops_end_release_run(v_run, 'cancelled', 'pull_request_closed', v_now);
        v_cancelled := v_cancelled || v_run.id;
    END LOOP;
    RETURN QUERY SELECT 'closed'::text, v_cancelled;
END
$$;
--! end
--! begin functions/cancel_release_run.sql
-- Purpose: cancels one open run on someone's word; the runner hears of it with its next heartbeat.
-- Outcomes, in this order: not_found (unknown, or another installation's) | existing (cancelled already) | terminal (ended
--   otherwise, untouched) | invalid_transition (malformed reason) | applied. Idempotent.
-- Locks: run -> attempt -> lease -> publication. Writes: run, attempt, events, lease, publication.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_release_run(
    p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (cancel_outcome text, run_status text, run_version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = p_release_run_id AND installation_id = p_installation_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::text, NULL::bigint;
        RETURN;
    END IF;
    IF v_run.finished_at IS NOT NULL THEN
        RETURN QUERY SELECT CASE v_run.status WHEN 'cancelled' THEN 'existing' ELSE 'terminal' END,
            v_run.status, v_run.version;
        RETURN;
    END IF;
    IF COALESCE(p_reason_code !~ '^[a-z0-9]+([._-][a-z0-9]+)*$' OR length(p_reason_code) > 128, true) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, v_run.status, v_run.version;
        RETURN;
    END IF;

    v_run.cancelled_by := left(p_cancelled_by, 200);
    v_run := boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, COALESCE(p_now, clock_timestamp()));
    RETURN QUERY SELECT 'applied'::text, v_run.status, v_run.version;
END
$$;
--! end
--! begin functions/cancel_installation_runs.sql
-- Purpose: an installation was removed or suspended: cancels its open runs, at most p_limit a call.
-- Outcomes: how many were cancelled; fewer than p_limit means that none is left. Idempotent.
-- Locks: installation (shared) -> runs in ascending id -> attempt -> lease -> publication.
-- Writes: runs, attempts, events, leases, publications.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_installation_runs(
    p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_count integer := 0;
    v_now timestamptz;
BEGIN
    PERFORM FROM installations WHERE id = p_installation_id FOR SHARE;
    v_now := COALESCE(p_now, clock_timestamp());
    FOR v_run IN SELECT * FROM release_runs WHERE installation_id = p_installation_id
        AND status IN ('queued', 'dispatched', 'running') ORDER BY id LIMIT p_limit FOR NO KEY UPDATE
    LOOP
        PERFORM boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, v_now);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$$;
--! end

ALTER TABLE refs ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON refs FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON refs FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));
GRANT SELECT ON refs TO boardreadyops_app;
GRANT EXECUTE ON FUNCTION boardreadyops_enqueue_release_run_with_outbox, boardreadyops_close_ref,
    boardreadyops_cancel_release_run, boardreadyops_cancel_installation_runs TO boardreadyops_app;
