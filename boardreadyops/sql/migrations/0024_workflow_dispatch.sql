-- 0024 workflow dispatch: one POST per attempt, what binds an attempt to a workflow run, the claim of one-shot effects.

ALTER TABLE release_run_attempts
    ADD COLUMN workflow_run_id github_id,
    ADD COLUMN workflow_run_attempt positive_integer;
CREATE UNIQUE INDEX release_run_attempts_by_workflow_run
    ON release_run_attempts (repository_id, workflow_run_id, workflow_run_attempt) WHERE workflow_run_id IS NOT NULL;

--! begin functions/plan_attempt.sql
-- Purpose: gives a run that a workflow will execute its planned attempt (queued, version 0); a runner's attempt is made by
--          its claim.
-- Outcomes: the attempt's id, null for a runner-executed run.
-- Locks: none of its own; the caller holds the run. Writes: release_run_attempts.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_plan_attempt(p_run release_runs, p_now timestamptz) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    v_attempt_id uuid;
BEGIN
    IF p_run.execution_backend = 'runner' THEN
        RETURN NULL;
    END IF;
    INSERT INTO release_run_attempts (installation_id, repository_id, release_run_id, number, retry_id, status,
                                      created_at, updated_at)
    SELECT p_run.installation_id, p_run.repository_id, p_run.id, COALESCE(max(number), 0) + 1, p_run.retry_id, 'queued',
           p_now, p_now
    FROM release_run_attempts WHERE release_run_id = p_run.id
    RETURNING id INTO STRICT v_attempt_id;
    RETURN v_attempt_id;
END
$$;
--! end
--! begin functions/request_dispatch.sql
-- Purpose: makes the dispatch of a planned attempt due, once: when GitHub shows its check and nobody needs to approve it.
-- Outcomes: at most one dispatch per attempt, ever.
-- Locks: outbox; the caller holds run and attempt. Writes: outbox.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_request_dispatch(
    p_run release_runs, p_attempt release_run_attempts, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, release_run_id,
                        execution_attempt_id, available_at, created_at)
    SELECT 'workflow_dispatch', p_run.installation_id, p_run.repository_id, p_run.ref, p_run.pull_request_number,
           p_run.id, p_attempt.id, p_now, p_now
    WHERE p_attempt.status = 'dispatching' AND p_run.approval <> 'waiting'
    ON CONFLICT (execution_attempt_id) WHERE kind = 'workflow_dispatch' DO NOTHING
$$;
--! end
--! begin functions/request_workflow_cancel.sql
-- Purpose: asks the relay to cancel a workflow run on GitHub whose attempt is over, or which was never ours to start.
-- Outcomes: at most one open request per workflow run, however often it is asked.
-- Locks: outbox. Writes: outbox.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_request_workflow_cancel(
    p_run release_runs, p_workflow_run_id bigint, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, release_run_id, workflow_run_id,
                        available_at, created_at)
    SELECT 'workflow_cancel', p_run.installation_id, p_run.repository_id, p_run.ref, p_run.pull_request_number,
           p_run.id, p_workflow_run_id, p_now, p_now
    WHERE p_workflow_run_id IS NOT NULL
    ON CONFLICT (repository_id, workflow_run_id) WHERE kind = 'workflow_cancel' AND settled_at IS NULL DO NOTHING
$$;
--! end
--! begin functions/advance_workflow.sql
-- Purpose: attempt and run come as far as GitHub's word on their workflow run says, `dispatched` or `in_progress`; whichever
--          is there already, or further, stays.
-- Outcomes: existing (both are) | applied.
-- Locks: publication; the caller holds run and attempt. Writes: attempt, run, events, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_advance_workflow(
    p_run release_runs, p_attempt release_run_attempts, p_attempt_status text, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_attempt release_run_attempts := p_attempt;
    v_run release_runs := p_run;
BEGIN
    IF v_attempt.status = 'dispatching' THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'dispatched', 'workflow_dispatched', p_now);
    END IF;
    IF p_attempt_status = 'in_progress' AND v_attempt.status = 'dispatched' THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'in_progress', 'workflow_reconciled', p_now);
    END IF;
    IF p_attempt_status = 'dispatched' AND v_run.status = 'queued' THEN
        v_run := boardreadyops_move_release_run(v_run, 'dispatched', 'workflow_dispatched', p_now);
    ELSIF p_attempt_status = 'in_progress' AND v_run.status IN ('queued', 'dispatched') THEN
        v_run := boardreadyops_move_release_run(v_run, 'running', 'workflow_reconciled', p_now);
    END IF;
    IF (v_run.version, v_attempt.version) IS NOT DISTINCT FROM (p_run.version, p_attempt.version) THEN
        RETURN 'existing';
    END IF;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN 'applied';
END
$$;
--! end

--! begin functions/bind_workflow_run.sql
-- Purpose: binds an attempt to the workflow run that executes it. The first to say so wins, whether the dispatch's answer,
--          a run-name or a signed token; another workflow run is refused and its cancellation asked for.
-- Outcomes: bound | existing (the same) | conflict.
-- Locks: outbox for a cancellation; the caller holds run and attempt. Writes: release_run_attempts, outbox.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_bind_workflow_run(
    p_run release_runs, p_attempt release_run_attempts, p_workflow_run_id bigint, p_workflow_run_attempt integer,
    p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF p_attempt.workflow_run_id = p_workflow_run_id THEN
        RETURN 'existing';
    END IF;
    IF p_attempt.workflow_run_id IS NOT NULL OR EXISTS (SELECT FROM release_run_attempts AS other
        WHERE other.repository_id = p_run.repository_id AND other.workflow_run_id = p_workflow_run_id
            AND other.workflow_run_attempt = p_workflow_run_attempt) THEN
        PERFORM boardreadyops_request_workflow_cancel(p_run, p_workflow_run_id, p_now);
        RETURN 'conflict';
    END IF;

    UPDATE release_run_attempts SET workflow_run_id = p_workflow_run_id, workflow_run_attempt = p_workflow_run_attempt
        WHERE id = p_attempt.id;
    RETURN 'bound';
END
$$;
--! end
--! begin functions/replace_silent_dispatch.sql
-- Purpose: the attempt of a silent dispatch goes stale; a new one is planned, or at the bound the run fails. GitHub shows
--          the check already, so the new attempt is ready for its dispatch.
-- Outcomes: the run as stored.
-- Locks: none of its own; the caller holds run, attempt and outbox row. Writes: attempts, run, events, outbox, publication.
-- Internal: called only by give_up_workflow_dispatch.
CREATE OR REPLACE FUNCTION boardreadyops_replace_silent_dispatch(
    p_run release_runs, p_attempt release_run_attempts, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs := p_run;
    v_attempt release_run_attempts := p_attempt;
BEGIN
    v_run.lost_attempts := p_run.lost_attempts + 1;
    IF v_run.lost_attempts >= (SELECT max_execution_attempts FROM deployment_settings) THEN
        v_attempt.inferred := true;
        PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'runner_attempts_exhausted', p_now);
        RETURN boardreadyops_end_release_run(v_run, 'failed', 'runner_attempts_exhausted', p_now);
    END IF;

    PERFORM boardreadyops_move_execution_attempt(p_attempt, 'stale', 'workflow_dispatch_failed', p_now);
    v_run.execution_attempt_id := boardreadyops_plan_attempt(v_run, p_now);
    v_run := boardreadyops_move_release_run(v_run, 'queued', 'workflow_dispatch_failed', p_now);
    SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = v_run.execution_attempt_id;
    v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'dispatching', 'check_run_created', p_now);
    PERFORM boardreadyops_request_dispatch(v_run, v_attempt, p_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN v_run;
END
$$;
--! end
--! begin functions/begin_workflow_dispatch.sql
-- Purpose: marks a claimed dispatch as started, in a commit of its own before the one POST that an attempt ever gets; and
--          says what to send.
-- Outcomes, in this order: not_found | stale (another claim has the row, or it is settled) | started (an earlier claim may
--   have sent it: look it up, do not send; of an ended attempt, too, whose workflow run is to be cancelled) | ended (the
--   attempt no longer waits for its dispatch: the row is settled) | begun: send it now. A repeat answers started.
-- Locks: run -> attempt -> outbox. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_begin_workflow_dispatch(
    p_effect_id bigint, p_generation bigint, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (dispatch_outcome text, release_run_id uuid, execution_attempt_id uuid, commit_sha text,
               started_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_effect outbox;
    v_outcome text;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = (SELECT effect.release_run_id FROM outbox AS effect
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::uuid, NULL::uuid, NULL::text, NULL::timestamptz;
        RETURN;
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts AS attempt WHERE attempt.id =
        (SELECT effect.execution_attempt_id FROM outbox AS effect WHERE effect.id = p_effect_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_effect FROM outbox AS effect WHERE effect.id = p_effect_id FOR NO KEY UPDATE;
    v_outcome := CASE
        WHEN v_effect.generation IS DISTINCT FROM p_generation OR v_effect.settled_at IS NOT NULL THEN 'stale'
        WHEN v_effect.started_at IS NOT NULL THEN 'started'
        -- An attempt ends with its run, so one that waits for its dispatch is the current one of an open run.
        WHEN v_attempt.status <> 'dispatching' THEN 'ended'
        ELSE 'begun' END;
    IF v_outcome IN ('begun', 'ended') THEN
        UPDATE outbox AS effect SET
            started_at = CASE WHEN v_outcome = 'begun' THEN COALESCE(p_now, clock_timestamp()) ELSE effect.started_at END,
            settled_at = CASE WHEN v_outcome = 'ended' THEN COALESCE(p_now, clock_timestamp()) END,
            outcome_code = CASE WHEN v_outcome = 'ended' THEN 'ended' END
        WHERE effect.id = p_effect_id RETURNING * INTO STRICT v_effect;
    END IF;
    RETURN QUERY SELECT v_outcome, v_run.id, v_attempt.id, v_run.commit_sha::text, v_effect.started_at;
END
$$;
--! end
--! begin functions/acknowledge_workflow_dispatch.sql
-- Purpose: GitHub answered a dispatch, or a look-up found it. The workflow run's id (null when GitHub gave none) and attempt
--          (null: the first) are stored always, whoever holds the row by now; if the attempt has ended meanwhile its
--          workflow run is cancelled, unless it told its result already.
-- Outcomes, in this order: not_found | conflict (another workflow run is bound; this one is to be cancelled) | ended |
--   existing (both dispatched before, or further) | applied: attempt dispatching -> dispatched, run queued -> dispatched.
--   Safe to repeat.
-- Locks: run -> attempt -> outbox/publication. Writes: attempt, run, events, outbox, publication.
CREATE OR REPLACE FUNCTION boardreadyops_acknowledge_workflow_dispatch(
    p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamptz DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = (SELECT effect.release_run_id FROM outbox AS effect
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts AS attempt WHERE attempt.id =
        (SELECT effect.execution_attempt_id FROM outbox AS effect WHERE effect.id = p_effect_id) FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF p_workflow_run_id IS NOT NULL AND boardreadyops_bind_workflow_run(
        v_run, v_attempt, p_workflow_run_id, COALESCE(p_workflow_run_attempt, 1), v_now) = 'conflict' THEN
        RETURN 'conflict';
    END IF;
    UPDATE outbox SET settled_at = v_now, outcome_code = 'dispatched', claimed_until = NULL
        WHERE id = p_effect_id AND settled_at IS NULL;
    IF v_attempt.finished_at IS NOT NULL THEN
        PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now)
            WHERE NOT EXISTS (SELECT FROM runner_results AS told WHERE told.execution_attempt_id = v_attempt.id);
        RETURN 'ended';
    END IF;
    RETURN boardreadyops_advance_workflow(v_run, v_attempt, 'dispatched', v_now);
END
$$;
--! end
--! begin functions/give_up_workflow_dispatch.sql
-- Purpose: a dispatch did not work. `refused`: GitHub said no (no workflow file, no permission), so the run fails at once.
--          `silent`: it was started, never answered and cannot be found, so the attempt goes stale and a new one is planned,
--          within the bound on attempts.
-- Outcomes, in this order: not_found | stale (another claim has the row, or it is settled) | invalid (unknown cause) |
--   ended (the attempt no longer waits for its dispatch: the row is settled) | applied.
-- Locks: run -> attempt -> outbox/publication. Writes: attempts, run, events, outbox, publication.
CREATE OR REPLACE FUNCTION boardreadyops_give_up_workflow_dispatch(
    p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_effect outbox;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = (SELECT effect.release_run_id FROM outbox AS effect
        WHERE effect.id = p_effect_id AND effect.kind = 'workflow_dispatch') FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts AS attempt WHERE attempt.id =
        (SELECT effect.execution_attempt_id FROM outbox AS effect WHERE effect.id = p_effect_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF v_effect.generation IS DISTINCT FROM p_generation OR v_effect.settled_at IS NOT NULL THEN
        RETURN 'stale';
    END IF;
    IF COALESCE(p_cause NOT IN ('refused', 'silent'), true) THEN
        RETURN 'invalid';
    END IF;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    UPDATE outbox SET settled_at = v_now, outcome_code = p_cause, claimed_until = NULL WHERE id = p_effect_id;
    IF v_attempt.status <> 'dispatching' OR v_run.status <> 'queued' THEN
        RETURN 'ended';
    END IF;

    IF p_cause = 'refused' THEN
        PERFORM boardreadyops_end_release_run(v_run, 'failed', 'workflow_dispatch_failed', v_now);
    ELSE
        PERFORM boardreadyops_replace_silent_dispatch(v_run, v_attempt, v_now);
    END IF;
    RETURN 'applied';
END
$$;
--! end
--! begin functions/claim_outbox.sql
-- Purpose: leases due one-shot effects to a relay; each claim raises the row's generation, the relay's fence.
-- Outcomes: the claimed rows, oldest first, none if nothing is due; rows another relay is claiming are skipped.
-- Locks: outbox rows only, so that it can never wait for a lifecycle change. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_claim_outbox(
    p_limit integer, p_lease_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (effect_id bigint, generation bigint, kind text, installation_id bigint, repository_id bigint,
               repository_owner text, repository_name text, ref text, pull_request_number integer, send_count integer,
               release_run_id uuid, execution_attempt_id uuid, workflow_run_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT effect.id FROM outbox AS effect
        WHERE effect.settled_at IS NULL AND effect.available_at <= v_now
            AND (effect.claimed_until IS NULL OR effect.claimed_until <= v_now)
        ORDER BY effect.available_at, effect.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE outbox AS effect SET
            generation = effect.generation + 1, send_count = effect.send_count + 1,
            claimed_until = v_now + make_interval(secs => p_lease_seconds)
        FROM due WHERE effect.id = due.id RETURNING effect.*
    )
    SELECT claimed.id, claimed.generation, claimed.kind::text, repository.installation_id, claimed.repository_id,
           repository.owner, repository.name, claimed.ref, claimed.pull_request_number, claimed.send_count,
           claimed.release_run_id, claimed.execution_attempt_id, claimed.workflow_run_id::bigint
    FROM claimed JOIN repositories AS repository ON repository.id = claimed.repository_id
    ORDER BY claimed.available_at, claimed.id;
END
$$;
--! end
--! begin functions/settle_outbox.sql
-- Purpose: marks a one-shot effect as done, with the code that says how it ended.
-- Outcomes: applied; stale when another claim has the row by now or it is settled; not_found.
-- Locks: the outbox row. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_settle_outbox(
    p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_effect outbox;
BEGIN
    SELECT * INTO v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_effect.settled_at IS NOT NULL OR v_effect.generation IS DISTINCT FROM p_generation THEN
        RETURN 'stale';
    END IF;

    UPDATE outbox SET settled_at = COALESCE(p_now, clock_timestamp()), outcome_code = p_outcome_code,
        claimed_until = NULL WHERE id = p_effect_id;
    RETURN 'applied';
END
$$;
--! end
--! begin functions/defer_outbox.sql
-- Purpose: gives a claimed one-shot effect back, to be tried again after a delay.
--          What was given back before anything was sent (`p_sent` false) does not count as a send.
-- Outcomes: applied; stale when another claim has the row by now or it is settled; not_found.
-- Locks: the outbox row. Writes: outbox.
CREATE OR REPLACE FUNCTION boardreadyops_defer_outbox(
    p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamptz DEFAULT NULL,
    p_sent boolean DEFAULT true)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_effect outbox;
BEGIN
    SELECT * INTO v_effect FROM outbox WHERE id = p_effect_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_effect.settled_at IS NOT NULL OR v_effect.generation IS DISTINCT FROM p_generation THEN
        RETURN 'stale';
    END IF;

    UPDATE outbox SET claimed_until = NULL, last_error = left(p_error, 500),
        send_count = CASE WHEN p_sent THEN send_count ELSE GREATEST(send_count - 1, 0) END,
        available_at = COALESCE(p_now, clock_timestamp()) + make_interval(secs => p_delay_seconds)
    WHERE id = p_effect_id;
    RETURN 'applied';
END
$$;
--! end
GRANT EXECUTE ON FUNCTION boardreadyops_claim_outbox, boardreadyops_settle_outbox, boardreadyops_defer_outbox,
    boardreadyops_begin_workflow_dispatch, boardreadyops_acknowledge_workflow_dispatch,
    boardreadyops_give_up_workflow_dispatch
    TO boardreadyops_app;
