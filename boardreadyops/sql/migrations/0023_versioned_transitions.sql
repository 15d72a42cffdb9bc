-- 0023 versions, the append-only history and the general transition.

ALTER TABLE release_runs
    ADD COLUMN version version NOT NULL DEFAULT 0,
    ADD COLUMN event_hash chain_hash NOT NULL DEFAULT '\x';
ALTER TABLE release_run_attempts
    ADD COLUMN version version NOT NULL DEFAULT 0,
    ADD COLUMN event_hash chain_hash NOT NULL DEFAULT '\x';

-- Every edge that the general transition may take. Edges of one named function alone are not in here.
CREATE TABLE lifecycle_edges (
    entity_type entity_type NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    PRIMARY KEY (entity_type, from_status, to_status)
);
INSERT INTO lifecycle_edges (entity_type, from_status, to_status)
SELECT 'release_run', edge.from_status, unnest(edge.to_statuses) FROM (VALUES
    ('queued', ARRAY['dispatched', 'running', 'completed', 'failed', 'timed_out', 'cancelled', 'superseded']),
    ('dispatched', ARRAY['running', 'completed', 'failed', 'timed_out', 'cancelled', 'superseded']),
    ('running', ARRAY['completed', 'failed', 'timed_out', 'cancelled', 'superseded'])
) AS edge (from_status, to_statuses)
UNION ALL
SELECT 'execution_attempt', edge.from_status,
       unnest(edge.to_statuses || ARRAY['failed', 'cancelled', 'timed_out', 'stale', 'superseded']) FROM (VALUES
    ('queued', ARRAY['dispatching']),
    ('dispatching', ARRAY['dispatched']),
    ('dispatched', ARRAY['in_progress']),
    ('in_progress', ARRAY['uploading_artifacts', 'reporting', 'completed']),
    ('uploading_artifacts', ARRAY['reporting', 'completed']),
    ('reporting', ARRAY['completed'])
) AS edge (from_status, to_statuses);

CREATE TABLE release_run_transition_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL,
    execution_attempt_id uuid,
    entity_type entity_type NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    from_version version NOT NULL,
    to_version bigint NOT NULL CHECK (to_version = from_version + 1),
    reason_code reason_code NOT NULL,
    occurred_at timestamptz NOT NULL,
    change_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    hash digest NOT NULL,
    CONSTRAINT attempt_events_name_their_attempt CHECK (entity_type = 'release_run' OR execution_attempt_id IS NOT NULL)
);
CREATE INDEX release_run_transition_events_by_run ON release_run_transition_events (release_run_id, id);
CREATE UNIQUE INDEX release_run_transition_events_run_version
    ON release_run_transition_events (release_run_id, to_version) WHERE entity_type = 'release_run';
CREATE UNIQUE INDEX release_run_transition_events_attempt_version
    ON release_run_transition_events (execution_attempt_id, to_version) WHERE entity_type = 'execution_attempt';

--! begin functions/refuse_event_change.sql
-- Purpose: keeps the history append-only for every role, the owner included.
-- Outcomes: always an error; there is no legal change of a written event.
-- Locks: none. Writes: nothing.
-- Internal: a trigger function, granted to nobody.
CREATE OR REPLACE FUNCTION boardreadyops_refuse_event_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'release_run_transition_events is append-only'
        USING ERRCODE = 'insufficient_privilege', HINT = 'Append a new transition; history is never rewritten.';
END
$$;
--! end
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON release_run_transition_events
    FOR EACH ROW EXECUTE FUNCTION boardreadyops_refuse_event_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON release_run_transition_events
    FOR EACH STATEMENT EXECUTE FUNCTION boardreadyops_refuse_event_change();

--! begin functions/due_at.sql
-- Purpose: when the clock of a run in this status runs out: the installation's own clock, else the deployment's.
-- Outcomes: a time; null for a terminal status, which has no clock.
-- Locks: none. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_due_at(
    p_installation_id bigint, p_status text, p_approval text, p_now timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT p_now + make_interval(secs => CASE
        WHEN p_status = 'queued' AND p_approval = 'waiting'
            THEN COALESCE(installation.approval_timeout_seconds, deployment.approval_timeout_seconds)
        WHEN p_status = 'queued' THEN COALESCE(installation.queue_timeout_seconds, deployment.queue_timeout_seconds)
        WHEN p_status = 'dispatched' THEN COALESCE(installation.start_timeout_seconds, deployment.start_timeout_seconds)
        WHEN p_status = 'running' THEN COALESCE(installation.run_timeout_seconds, deployment.run_timeout_seconds)
        END)
    FROM installations AS installation, deployment_settings AS deployment
    WHERE installation.id = p_installation_id);
END
$$;
--! end
--! begin functions/append_transition_event.sql
-- Purpose: appends one event and answers its hash: SHA-256 over the entity's previous hash and every column that tells
--          the transition, so that a removed or altered row breaks the chain. Times enter as microseconds since 1970.
-- Outcomes: the new hash, which the caller stores on the entity.
-- Locks: none of its own; the caller holds the entity's row. Writes: release_run_transition_events.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_append_transition_event(
    p_event release_run_transition_events, p_previous_hash bytea) RETURNS bytea
LANGUAGE plpgsql AS $$
DECLARE
    v_hash bytea := sha256(p_previous_hash || convert_to(concat_ws('|',
        p_event.installation_id, p_event.repository_id, p_event.release_run_id,
        COALESCE(p_event.execution_attempt_id::text, '-'), p_event.entity_type, p_event.from_status, p_event.to_status,
        p_event.from_version, p_event.to_version, p_event.reason_code,
        (extract(epoch FROM p_event.occurred_at) * 1000000)::bigint), 'UTF8'));
BEGIN
    INSERT INTO release_run_transition_events (
        installation_id, repository_id, release_run_id, execution_attempt_id, entity_type,
        from_status, to_status, from_version, to_version, reason_code, occurred_at, hash)
    VALUES (
        p_event.installation_id, p_event.repository_id, p_event.release_run_id, p_event.execution_attempt_id,
        p_event.entity_type, p_event.from_status, p_event.to_status, p_event.from_version, p_event.to_version,
        p_event.reason_code, p_event.occurred_at, v_hash);
    RETURN v_hash;
END
$$;
--! end
--! begin functions/move_release_run.sql
-- Purpose: the one writer of a run's status: raises the version by one, appends the event, re-arms the clock, and
--          stores the other lifecycle columns as the caller set them in p_run.
-- Outcomes: the run as stored.
-- Locks: none of its own; the caller holds the run. Writes: release_runs, release_run_transition_events.
-- Internal: called only by guarded functions, which check the edge.
CREATE OR REPLACE FUNCTION boardreadyops_move_release_run(
    p_run release_runs, p_next_status text, p_reason_code text, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_event release_run_transition_events;
    v_run release_runs;
BEGIN
    v_event.installation_id := p_run.installation_id;
    v_event.repository_id := p_run.repository_id;
    v_event.release_run_id := p_run.id;
    v_event.execution_attempt_id := p_run.execution_attempt_id;
    v_event.entity_type := 'release_run';
    v_event.from_status := p_run.status;
    v_event.to_status := p_next_status;
    v_event.from_version := p_run.version;
    v_event.to_version := p_run.version + 1;
    v_event.reason_code := p_reason_code;
    v_event.occurred_at := p_now;

    UPDATE release_runs SET
        status = p_next_status,
        version = p_run.version + 1,
        event_hash = boardreadyops_append_transition_event(v_event, p_run.event_hash),
        reason_code = p_reason_code,
        decision = p_run.decision,
        execution_attempt_id = p_run.execution_attempt_id,
        retry_id = p_run.retry_id,
        retry_number = p_run.retry_number,
        superseded_by = p_run.superseded_by,
        cancelled_by = p_run.cancelled_by,
        lost_attempts = p_run.lost_attempts,
        given_back = p_run.given_back,
        needs = p_run.needs,
        due_at = boardreadyops_due_at(p_run.installation_id, p_next_status, p_run.approval, p_now),
        queued_at = CASE WHEN p_next_status = 'queued' THEN GREATEST(p_now, p_run.queued_at) ELSE p_run.queued_at END,
        finished_at = CASE WHEN p_next_status NOT IN ('queued', 'dispatched', 'running') THEN p_now END,
        updated_at = p_now
    WHERE id = p_run.id
    RETURNING * INTO STRICT v_run;
    RETURN v_run;
END
$$;
--! end
--! begin functions/move_execution_attempt.sql
-- Purpose: the one writer of an attempt's status: raises the version by one and appends the event.
-- Outcomes: the attempt as stored.
-- Locks: none of its own; the caller holds run and attempt. Writes: release_run_attempts, release_run_transition_events.
-- Internal: called only by guarded functions, which check the edge.
CREATE OR REPLACE FUNCTION boardreadyops_move_execution_attempt(
    p_attempt release_run_attempts, p_next_status text, p_reason_code text, p_now timestamptz)
RETURNS release_run_attempts
LANGUAGE plpgsql AS $$
DECLARE
    v_event release_run_transition_events;
    v_attempt release_run_attempts;
BEGIN
    v_event.installation_id := p_attempt.installation_id;
    v_event.repository_id := p_attempt.repository_id;
    v_event.release_run_id := p_attempt.release_run_id;
    v_event.execution_attempt_id := p_attempt.id;
    v_event.entity_type := 'execution_attempt';
    v_event.from_status := p_attempt.status;
    v_event.to_status := p_next_status;
    v_event.from_version := p_attempt.version;
    v_event.to_version := p_attempt.version + 1;
    v_event.reason_code := p_reason_code;
    v_event.occurred_at := p_now;

    UPDATE release_run_attempts SET
        status = p_next_status,
        version = p_attempt.version + 1,
        event_hash = boardreadyops_append_transition_event(v_event, p_attempt.event_hash),
        inferred = p_attempt.inferred,
        finished_at = CASE WHEN p_next_status NOT IN
            ('queued', 'dispatching', 'dispatched', 'in_progress', 'uploading_artifacts', 'reporting') THEN p_now END,
        updated_at = p_now
    WHERE id = p_attempt.id
    RETURNING * INTO STRICT v_attempt;
    RETURN v_attempt;
END
$$;
--! end
--! begin functions/transition_allowed.sql
-- Purpose: whether the general transition may take this edge with this reason.
-- Outcomes: false for a malformed reason, no change at all, an edge that is not in lifecycle_edges, `completed` (only a
--   result completes a run), a terminal run that would leave an open attempt behind, a superseded run without
--   successor, and an attempt that would end alone while its run is running.
-- Locks: none. Writes: nothing.
-- Internal: called only by the general transition.
CREATE OR REPLACE FUNCTION boardreadyops_transition_allowed(
    p_run release_runs, p_attempt release_run_attempts,
    p_next_run_status text, p_next_attempt_status text, p_reason_code text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_open_attempt CONSTANT text[] := ARRAY['queued', 'dispatching', 'dispatched', 'in_progress', 'uploading_artifacts',
                                            'reporting'];
    v_attempt_after text := COALESCE(p_next_attempt_status, p_attempt.status);
BEGIN
    IF COALESCE(p_reason_code !~ '^[a-z0-9]+([._-][a-z0-9]+)*$' OR length(p_reason_code) > 128, true) THEN
        RETURN false;
    END IF;
    IF p_next_run_status IS NULL AND p_next_attempt_status IS NULL THEN
        RETURN false;
    END IF;
    IF p_next_run_status = 'completed' OR p_next_attempt_status = 'completed' THEN
        RETURN false;
    END IF;
    IF p_next_run_status IS NOT NULL AND NOT EXISTS (SELECT FROM lifecycle_edges WHERE entity_type = 'release_run'
        AND from_status = p_run.status AND to_status = p_next_run_status) THEN
        RETURN false;
    END IF;
    IF p_next_attempt_status IS NOT NULL AND NOT EXISTS (SELECT FROM lifecycle_edges
        WHERE entity_type = 'execution_attempt' AND from_status = p_attempt.status AND to_status = p_next_attempt_status)
    THEN
        RETURN false;
    END IF;
    IF p_next_run_status = 'superseded' AND p_run.superseded_by IS NULL THEN
        RETURN false;
    END IF;
    IF p_next_run_status IN ('failed', 'timed_out', 'cancelled', 'superseded')
        AND v_attempt_after = ANY (v_open_attempt) THEN
        RETURN false;
    END IF;
    RETURN NOT (p_next_run_status IS NULL AND p_run.status = 'running' AND v_attempt_after <> ALL (v_open_attempt));
END
$$;
--! end
--! begin functions/transition_release_run_state.sql
-- Purpose: the general guarded transition of a run and, if named, its current attempt, in one transaction.
-- Outcomes, in this order: not_found (no such run, or the named attempt is none of its attempts) -> stale (an expected
--   status, version or pointer no longer matches) -> invalid_transition (edge or metadata not allowed) -> applied.
--   Anything but applied writes nothing. Not idempotent: a repeat of an applied call answers stale.
-- Locks: run -> attempt -> lease -> publication.
-- Writes: run, attempt, events; closes the lease of an ended run; raises the publication.
CREATE OR REPLACE FUNCTION boardreadyops_transition_release_run_state(
    p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint,
    p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text,
    p_now timestamptz DEFAULT NULL, p_expected_attempt_status text DEFAULT NULL,
    p_expected_attempt_version bigint DEFAULT NULL, p_next_attempt_status text DEFAULT NULL)
RETURNS TABLE (transition_outcome text, run_status text, run_version bigint, attempt_status text, attempt_version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs WHERE id = p_release_run_id FOR NO KEY UPDATE;
    IF FOUND AND p_expected_execution_attempt_id IS NOT NULL THEN
        SELECT * INTO v_attempt FROM release_run_attempts
            WHERE id = p_expected_execution_attempt_id AND release_run_id = p_release_run_id FOR NO KEY UPDATE;
    END IF;
    IF v_run.id IS NULL OR (p_expected_execution_attempt_id IS NOT NULL AND v_attempt.id IS NULL) THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::text, NULL::bigint, NULL::text, NULL::bigint;
        RETURN;
    END IF;
    IF v_run.status IS DISTINCT FROM p_expected_run_status OR v_run.version IS DISTINCT FROM p_expected_run_version
        OR v_run.execution_attempt_id IS DISTINCT FROM p_expected_execution_attempt_id
        OR (COALESCE(p_next_attempt_status, p_expected_attempt_status) IS NOT NULL
            AND v_attempt.status IS DISTINCT FROM p_expected_attempt_status)
        OR (COALESCE(p_next_attempt_status, p_expected_attempt_version::text) IS NOT NULL
            AND v_attempt.version IS DISTINCT FROM p_expected_attempt_version) THEN
        RETURN QUERY SELECT 'stale'::text, v_run.status::text, v_run.version::bigint,
            v_attempt.status::text, v_attempt.version::bigint;
        RETURN;
    END IF;
    IF NOT boardreadyops_transition_allowed(v_run, v_attempt, p_next_run_status, p_next_attempt_status, p_reason_code) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, v_run.status::text, v_run.version::bigint,
            v_attempt.status::text, v_attempt.version::bigint;
        RETURN;
    END IF;

    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at);
    IF p_next_attempt_status IS NOT NULL THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_next_attempt_status, p_reason_code, v_now);
    END IF;
    IF p_next_run_status IS NOT NULL THEN
        v_run := boardreadyops_move_release_run(v_run, p_next_run_status, p_reason_code, v_now);
    END IF;
    PERFORM boardreadyops_settle_lease(v_run, v_attempt);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'applied'::text, v_run.status::text, v_run.version::bigint,
        v_attempt.status::text, v_attempt.version::bigint;
END
$$;
--! end

ALTER TABLE release_run_transition_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON release_run_transition_events FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON release_run_transition_events FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));

-- The timeline shows these columns and no others.
CREATE VIEW page_transitions WITH (security_invoker = true) AS
    SELECT id, release_run_id, entity_type, execution_attempt_id, from_status, to_status, from_version, to_version,
           reason_code, occurred_at
    FROM release_run_transition_events;

GRANT SELECT ON release_run_transition_events, lifecycle_edges, page_transitions TO boardreadyops_app;
GRANT SELECT (id, installation_id, release_run_id, entity_type, execution_attempt_id, from_status, to_status,
              from_version, to_version, reason_code, occurred_at)
    ON release_run_transition_events TO boardreadyops_reader;
GRANT SELECT ON page_transitions TO boardreadyops_reader;
GRANT EXECUTE ON FUNCTION boardreadyops_transition_release_run_state TO boardreadyops_app;
