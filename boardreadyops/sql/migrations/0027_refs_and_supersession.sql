-- 0027 ref heads, enqueue, supersession and cancellation.

CREATE TABLE refs (
    repository_id bigint NOT NULL,
    installation_id bigint NOT NULL,
    ref git_ref NOT NULL,
    pull_request_number positive_integer,
    open boolean NOT NULL,
    draft boolean NOT NULL,
    base_ref ref_name,
    base_sha text,
    head_sha commit_sha NOT NULL,
    observed_at timestamptz NOT NULL,
    observation bigint NOT NULL DEFAULT 0,
    release_run_id uuid REFERENCES release_runs (id) DEFERRABLE INITIALLY DEFERRED,
    trust_mode trust_mode NOT NULL,
    level_due_at timestamptz,
    deleted_at timestamptz,
    PRIMARY KEY (repository_id, ref),
    FOREIGN KEY (repository_id, installation_id) REFERENCES repositories (id, installation_id) ON UPDATE CASCADE
);
CREATE INDEX refs_by_head ON refs (repository_id, head_sha) WHERE open;
CREATE INDEX refs_level_due ON refs (level_due_at) WHERE level_due_at IS NOT NULL;
CREATE INDEX refs_by_installation ON refs (installation_id, repository_id, ref) WHERE open;

--! begin functions/end_release_run.sql
-- Purpose: ends an open run with everything that hangs on it: its attempt under the same terminal name, its lease, its
--          workflow run, and what its Check Run tells. The caller sets superseded_by or cancelled_by in p_run.
-- Outcomes: the run as stored.
-- Locks: attempt -> lease -> outbox/publication; the caller holds the run.
-- Writes: run, attempt, events, lease, outbox, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_end_release_run(
    p_run release_runs, p_next_status text, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := GREATEST(p_now, p_run.updated_at);
    v_attempt release_run_attempts;
    v_cancelled_workflow_id bigint;
    v_run release_runs;
BEGIN
    SELECT * INTO v_attempt FROM release_run_attempts WHERE id = p_run.execution_attempt_id FOR NO KEY UPDATE;
    IF FOUND AND v_attempt.finished_at IS NULL THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_next_status, p_reason_code, v_now);
        v_cancelled_workflow_id := v_attempt.workflow_run_id;
    END IF;
    v_run := boardreadyops_move_release_run(p_run, p_next_status, p_reason_code, v_now);
    PERFORM boardreadyops_settle_lease(v_run, v_attempt);
    PERFORM boardreadyops_request_workflow_cancel(p_run, v_cancelled_workflow_id, v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN v_run;
END
$$;
--! end
--! begin functions/ask_again.sql
-- Purpose: asks a terminal run anew: a new retry with a new Check Run; decision, successor and attempt are cleared,
--          attempts counted anew.
-- Outcomes: the run as stored, queued.
-- Locks: publication; the caller holds ref and run. Writes: run, planned attempt, event, publication.
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
    v_run.lost_attempts := 0;
    v_run.given_back := 0;
    v_run.execution_attempt_id := boardreadyops_plan_attempt(v_run, v_now);
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
        trust_mode = CASE WHEN p_observed.open THEN p_observed.trust_mode ELSE trust_mode END,
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
--! end
--! begin functions/open_head_run.sql
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
--! end
--! begin functions/request_confirm.sql
-- Purpose: asks the relay to look at the pull request, branch or tag on GitHub, once however often it is asked before it looked.
-- Outcomes: at most one open request per ref.
-- Locks: outbox. Writes: outbox.
-- Internal: called only by guarded functions, which hold the ref.
CREATE OR REPLACE FUNCTION boardreadyops_request_confirm(p_ref refs, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, available_at, created_at)
    VALUES (CASE WHEN p_ref.pull_request_number IS NULL THEN 'confirm_ref' ELSE 'confirm_pull_request' END, p_ref.installation_id, p_ref.repository_id, p_ref.ref, p_ref.pull_request_number,
            p_now, p_now)
    ON CONFLICT (repository_id, ref) WHERE kind IN ('confirm_pull_request', 'confirm_ref') AND settled_at IS NULL DO NOTHING
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
--! end
--! begin functions/enqueue_pushed_ref.sql
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
--! end
--! begin functions/cancel_ref_runs.sql
-- Purpose: a ref is closed: its open runs end as cancelled.
-- Outcomes: the ids of the runs cancelled.
-- Locks: runs in ascending id -> attempt -> lease -> outbox/publication; the caller holds the ref.
-- Writes: runs, attempts, events, leases, outbox, publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_ref_runs(p_ref refs, p_reason_code text, p_now timestamptz) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
    v_cancelled uuid[] := '{}';
BEGIN
    FOR v_run IN SELECT * FROM release_runs AS run WHERE run.repository_id = p_ref.repository_id AND run.ref = p_ref.ref
        AND run.status IN ('queued', 'dispatched', 'running') ORDER BY run.id FOR NO KEY UPDATE
    LOOP
        PERFORM boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, p_now);
        v_cancelled := v_cancelled || v_run.id;
    END LOOP;
    RETURN v_cancelled;
END
$$;
--! end
--! begin functions/close_ref.sql
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
            v_run.status::text, v_run.version::bigint;
        RETURN;
    END IF;
    IF COALESCE(p_reason_code !~ '^[a-z0-9]+([._-][a-z0-9]+)*$' OR length(p_reason_code) > 128, true) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, v_run.status::text, v_run.version::bigint;
        RETURN;
    END IF;

    v_run.cancelled_by := left(p_cancelled_by, 200);
    v_run := boardreadyops_end_release_run(v_run, 'cancelled', p_reason_code, COALESCE(p_now, clock_timestamp()));
    RETURN QUERY SELECT 'applied'::text, v_run.status::text, v_run.version::bigint;
END
$$;
--! end
--! begin functions/cancel_installation_runs.sql
-- Purpose: an installation was removed or suspended: cancels its open runs, at most p_limit a call.
-- Outcomes: how many were cancelled; fewer than p_limit means that none is left. Idempotent.
-- Locks: runs in ascending id -> attempt -> lease -> publication.
-- Writes: runs, attempts, events, leases, publications.
CREATE OR REPLACE FUNCTION boardreadyops_cancel_installation_runs(
    p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_count integer := 0;
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
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
--! begin functions/approve_release_run.sql
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
--! end
--! begin functions/resume_installation.sql
-- Purpose: a tenant can be served again (unsuspended, reinstalled). Its open refs are due for the level rule and are looked at
--          on GitHub, since what was observed meanwhile was not taken; what GitHub is owed is due at once.
-- Outcomes: how many refs were marked, at most p_limit a call; fewer than p_limit means that none is left. Idempotent.
-- Locks: refs -> outbox/publication, skipping locked ones: they are being told. Writes: refs, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_resume_installation(
    p_installation_id bigint, p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_ref refs;
    v_count integer := 0;
BEGIN
    FOR v_ref IN SELECT * FROM refs WHERE installation_id = p_installation_id AND open AND level_due_at IS NULL
        ORDER BY repository_id, ref LIMIT p_limit FOR NO KEY UPDATE
    LOOP
        UPDATE refs SET level_due_at = v_now WHERE repository_id = v_ref.repository_id AND ref = v_ref.ref;
        PERFORM boardreadyops_request_confirm(v_ref, v_now);
        v_count := v_count + 1;
    END LOOP;
    UPDATE outbox SET available_at = v_now WHERE id IN (
        SELECT id FROM outbox WHERE installation_id = p_installation_id AND settled_at IS NULL AND available_at > v_now
        FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE publications SET available_at = v_now WHERE id IN (
        SELECT id FROM publications WHERE installation_id = p_installation_id
            AND acked_seq < desired_seq AND closed_code IS NULL AND NOT leased AND available_at > v_now
        FOR NO KEY UPDATE SKIP LOCKED);
    RETURN v_count;
END
$$;
--! end
--! begin functions/sweep_levels.sql
-- Purpose: the level rule for one ref that is due for it: an open ref of an enabled tenant has its head asked, and asked again
--          when its run ended superseded, or cancelled by neither a person nor policy. One ref a call, so that the locks of one
--          never come before the locks of another; `p_limit` due refs, after the first `p_skip`, are looked through for one
--          that nobody holds.
-- Outcomes: the ref's run and what became of it, no row when nothing is due; a disabled tenant's ref is put off by an hour and
--          answers `disabled`, a closed one is due no more and answers `closed`.
-- Locks: installation, repository (shared) -> ref -> runs -> attempt -> lease -> outbox/publication.
-- Writes: refs, runs, attempts, events, leases, outbox, publications.
CREATE OR REPLACE FUNCTION boardreadyops_sweep_levels(
    p_limit integer, p_now timestamptz DEFAULT NULL, p_skip integer DEFAULT 0)
RETURNS TABLE (release_run_id uuid, level_outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_due refs;
    v_ref refs;
    v_enabled boolean;
BEGIN
    FOR v_due IN SELECT * FROM refs WHERE level_due_at <= v_now ORDER BY level_due_at LIMIT p_limit OFFSET p_skip LOOP
        v_enabled := boardreadyops_lock_tenant(v_due.installation_id, v_due.repository_id);
        SELECT * INTO v_ref FROM refs WHERE repository_id = v_due.repository_id AND ref = v_due.ref
            AND level_due_at <= v_now FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_now := COALESCE(p_now, clock_timestamp());
        IF v_enabled IS TRUE AND v_ref.open THEN
            RETURN QUERY SELECT head.release_run_id, head.enqueue_outcome
                FROM boardreadyops_open_head_run(v_ref, v_now) AS head;
            RETURN;
        END IF;
        UPDATE refs SET level_due_at = CASE WHEN open THEN v_now + interval '1 hour' END
            WHERE repository_id = v_ref.repository_id AND ref = v_ref.ref;
        RETURN QUERY SELECT v_ref.release_run_id, CASE WHEN v_ref.open THEN 'disabled' ELSE 'closed' END;
        RETURN;
    END LOOP;
END
$$;
--! end

ALTER TABLE refs ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON refs FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON refs FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));
GRANT SELECT ON refs TO boardreadyops_app;
GRANT EXECUTE ON FUNCTION boardreadyops_enqueue_release_run_with_outbox, boardreadyops_close_ref,
    boardreadyops_cancel_release_run, boardreadyops_cancel_installation_runs, boardreadyops_enqueue_pushed_ref,
    boardreadyops_approve_release_run, boardreadyops_resume_installation, boardreadyops_sweep_levels TO boardreadyops_app;
