-- 0029 runners and their leases, each bound to the lifecycle snapshot it owns.

CREATE TABLE runner_registrations (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    installation_id bigint REFERENCES installations (id),
    repository_ids bigint[] CHECK (cardinality(repository_ids) BETWEEN 1 AND 1000),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    runner_version text NOT NULL CHECK (length(runner_version) <= 100),
    token_digest digest NOT NULL UNIQUE,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT managed_runners_serve_all CHECK (installation_id IS NOT NULL OR repository_ids IS NULL)
);

CREATE TABLE runner_enrollments (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    installation_id bigint REFERENCES installations (id),
    repository_ids bigint[] CHECK (cardinality(repository_ids) BETWEEN 1 AND 1000),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    token_digest digest NOT NULL UNIQUE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at <= created_at + interval '1 hour'),
    registration_id uuid REFERENCES runner_registrations (id)
);

CREATE TABLE runner_leases (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    installation_id bigint NOT NULL,
    registration_id uuid NOT NULL REFERENCES runner_registrations (id),
    request_id uuid NOT NULL,
    release_run_id uuid NOT NULL REFERENCES release_runs (id),
    execution_attempt_id uuid NOT NULL REFERENCES release_run_attempts (id),
    retry_id uuid NOT NULL,
    state lease_state NOT NULL DEFAULT 'active',
    stage lease_stage NOT NULL DEFAULT 'claimed',
    progress percentage NOT NULL DEFAULT 0,
    message lease_message NOT NULL DEFAULT '',
    expected_run_status text NOT NULL,
    expected_run_version bigint NOT NULL,
    expected_attempt_status text NOT NULL,
    expected_attempt_version bigint NOT NULL,
    lease_seconds integer NOT NULL,
    claimed_at timestamptz NOT NULL,
    heartbeat_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    maximum_expires_at timestamptz NOT NULL,
    next_check_at timestamptz NOT NULL,
    ended_at timestamptz,
    UNIQUE (registration_id, request_id),
    CONSTRAINT active_means_not_ended CHECK ((state = 'active') = (ended_at IS NULL)),
    CONSTRAINT never_beyond_the_maximum CHECK (expires_at <= maximum_expires_at)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX runner_leases_one_active_per_attempt ON runner_leases (execution_attempt_id) WHERE state = 'active';
-- The second condition is true of every row, but only a search by time implies it: no other search, misled by statistics
-- from an hour without an active lease, can walk all active leases here.
CREATE INDEX runner_leases_due ON runner_leases (next_check_at) WHERE state = 'active' AND next_check_at IS NOT NULL;
CREATE INDEX runner_leases_by_run ON runner_leases (release_run_id);

-- Whose turn it is: the installation that a managed runner served last. Advisory, so a sequence and not a row to lock.
CREATE SEQUENCE claim_turn MINVALUE 0 START WITH 0;

-- When leases were last looked at; a long gap means that we were away, not the runners.
CREATE TABLE sweep_marks (sweep text PRIMARY KEY, swept_at timestamptz NOT NULL, grace_until timestamptz);
INSERT INTO sweep_marks (sweep, swept_at) VALUES ('leases', now());

-- Where the waiting runs of an installation begin, kept only while dead entries lie before them. Advisory.
CREATE TABLE claim_marks (
    installation_id bigint PRIMARY KEY REFERENCES installations (id),
    queued_at timestamptz NOT NULL,
    rescan_at timestamptz NOT NULL
) WITH (fillfactor = 50);
ALTER TABLE claim_marks ENABLE ROW LEVEL SECURITY;

--! begin functions/lease_holds.sql
-- Purpose: whether run and attempt are still where the lease's lifecycle snapshot left them. A lease that drifted fails closed:
--          it may end, and moves nothing else.
-- Outcomes: false when the run points elsewhere, or a status or version differs.
-- Locks: none; the caller holds all three. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_lease_holds(
    p_run release_runs, p_attempt release_run_attempts, p_lease runner_leases) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT (p_run.execution_attempt_id, p_run.status, p_run.version, p_attempt.status, p_attempt.version)
        IS NOT DISTINCT FROM (p_attempt.id, p_lease.expected_run_status, p_lease.expected_run_version,
                              p_lease.expected_attempt_status, p_lease.expected_attempt_version)
$$;
--! end

--! begin functions/settle_lease.sql
-- Purpose: keeps the current attempt's active lease true after a change: closes it with its run, else advances the lifecycle
--          snapshot it is bound to. An attempt never ends while its run is running.
-- Outcomes: at most one lease changed.
-- Locks: the lease, after run and attempt. Writes: runner_leases.
-- Internal: called only by guarded functions, which hold run and attempt.
CREATE OR REPLACE FUNCTION boardreadyops_settle_lease(
    p_run release_runs, p_attempt release_run_attempts) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE runner_leases SET
        state = CASE WHEN p_run.finished_at IS NOT NULL THEN p_run.status ELSE state END,
        ended_at = p_run.finished_at,
        expected_run_status = p_run.status,
        expected_run_version = p_run.version,
        expected_attempt_status = p_attempt.status,
        expected_attempt_version = p_attempt.version
    WHERE execution_attempt_id = p_attempt.id AND state = 'active';
END
$$;
--! end
--! begin functions/issue_runner_enrollment.sql
-- Purpose: lets one runner register: for one installation, optionally for listed repositories of it, or managed (no
--          installation named), which serves all.
-- Outcomes: issued, with the time it runs out; not_found (no such installation, or a repository is not its own);
--   invalid (a life beyond one hour, or repositories without an installation).
-- Locks: none. Writes: runner_enrollments.
CREATE OR REPLACE FUNCTION boardreadyops_issue_runner_enrollment(
    p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (enrollment_outcome text, expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_expires_at timestamptz := v_now + make_interval(secs => p_ttl_seconds);
BEGIN
    IF COALESCE(p_ttl_seconds NOT BETWEEN 1 AND 3600, true) OR (p_installation_id IS NULL AND p_repository_ids IS NOT NULL) THEN
        RETURN QUERY SELECT 'invalid'::text, NULL::timestamptz;
        RETURN;
    END IF;
    IF (p_installation_id IS NOT NULL AND NOT EXISTS (SELECT FROM installations WHERE id = p_installation_id))
        OR EXISTS (SELECT FROM unnest(p_repository_ids) AS wanted (id) WHERE NOT EXISTS (
            SELECT FROM repositories WHERE repositories.id = wanted.id AND installation_id = p_installation_id)) THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::timestamptz;
        RETURN;
    END IF;

    INSERT INTO runner_enrollments (installation_id, repository_ids, name, token_digest, created_at, expires_at)
    VALUES (p_installation_id, p_repository_ids, p_name, p_token_digest, v_now, v_expires_at);
    RETURN QUERY SELECT 'issued'::text, v_expires_at;
END
$$;
--! end
--! begin functions/register_runner.sql
-- Purpose: turns an enrolment into a registration, once.
-- Outcomes: registered; refused (unknown, expired or used enrolment: one answer for all three, so that nothing leaks).
-- Locks: the enrolment. Writes: runner_registrations, runner_enrollments.
CREATE OR REPLACE FUNCTION boardreadyops_register_runner(
    p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (registration_outcome text, registration_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_enrollment runner_enrollments;
    v_registration_id uuid;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_enrollment FROM runner_enrollments WHERE token_digest = p_enrollment_digest FOR NO KEY UPDATE;
    v_now := COALESCE(p_now, clock_timestamp());
    IF NOT FOUND OR v_enrollment.registration_id IS NOT NULL OR v_enrollment.expires_at <= v_now THEN
        RETURN QUERY SELECT 'refused'::text, NULL::uuid;
        RETURN;
    END IF;

    INSERT INTO runner_registrations (installation_id, repository_ids, name, runner_version, token_digest, created_at)
    VALUES (v_enrollment.installation_id, v_enrollment.repository_ids, p_name, p_runner_version, p_token_digest, v_now)
    RETURNING id INTO v_registration_id;
    UPDATE runner_enrollments SET registration_id = v_registration_id WHERE id = v_enrollment.id;
    RETURN QUERY SELECT 'registered'::text, v_registration_id;
END
$$;
--! end
--! begin functions/capabilities_meet.sql
-- Purpose: whether a runner's declared capabilities (`kicad=9.0.8`) meet what a run needs (`kicad>=9`, `arch=x86_64`, `gpu`).
--          Versions are compared number by number, a missing part is zero; a part that is no number makes `>=` false.
--          A need that is null or empty asks for nothing, so every runner meets it.
-- Outcomes: true when every need is met; an empty list of needs always is.
-- Locks: none. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_capabilities_meet(p_capabilities text[], p_needs text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT NOT EXISTS (
        SELECT FROM unnest(p_needs) AS need WHERE need <> '' AND NOT EXISTS (
            SELECT FROM unnest(p_capabilities) AS capability
            WHERE capability = need
                OR split_part(capability, '=', 1) = need
                OR (split_part(need, '>=', 2) ~ '^[0-9]{1,9}(\.[0-9]{1,9}){0,7}$'
                    AND split_part(capability, '=', 1) = split_part(need, '>=', 1)
                    AND split_part(capability, '=', 2) ~ '^[0-9]{1,9}(\.[0-9]{1,9}){0,7}$'
                    AND string_to_array(split_part(capability, '=', 2), '.')::integer[]
                        -- A list that another begins with is the smaller one: without its last zeros a need is all it asks.
                        >= string_to_array(regexp_replace(split_part(need, '>=', 2), '(\.0+)+$', ''), '.')::integer[])))
$$;
--! end
--! begin functions/note_claim_walk.sql
-- Purpose: remembers where the waiting runs of an installation begin, when finding them took a long walk over entries that
--          are dead but still kept for an older transaction; forgets it when the walk is short again.
-- Outcomes: a mark is written at most once per thirty entries walked. It lies at the oldest run that is seen waiting, one
--   that another claim is just taking included, as that claim may be undone; and 30 seconds (the application's limit for
--   one command) behind the clock, as a run that is queued now may be committed that much later.
-- Locks: the mark, skipped when another claim holds it. Writes: claim_marks.
-- Internal: called only by claims.
CREATE OR REPLACE FUNCTION boardreadyops_note_claim_walk(
    p_installation_id bigint, p_walked bigint, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_long_walk CONSTANT bigint := 30;
    v_late_commit CONSTANT interval := interval '30 seconds';
    v_rescan_at timestamptz := p_now + interval '5 minutes';
    v_mark claim_marks;
    v_begin timestamptz;
BEGIN
    IF p_walked <= v_long_walk THEN
        PERFORM FROM claim_marks WHERE installation_id = p_installation_id AND rescan_at <= p_now FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            DELETE FROM claim_marks WHERE installation_id = p_installation_id;
        END IF;
        RETURN;
    END IF;
    SELECT * INTO v_mark FROM claim_marks WHERE installation_id = p_installation_id FOR UPDATE SKIP LOCKED;
    IF v_mark.installation_id IS NULL AND EXISTS (SELECT FROM claim_marks WHERE installation_id = p_installation_id) THEN
        RETURN;
    END IF;
    -- From an old mark that still holds: what lies before it was looked at then.
    v_begin := LEAST(p_now - v_late_commit, (SELECT run.queued_at FROM release_runs AS run
        WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
            AND run.superseded_by IS NULL AND run.needs = '{}'
            AND (run.installation_id, run.queued_at) >= (p_installation_id,
                CASE WHEN v_mark.rescan_at > p_now THEN v_mark.queued_at ELSE '-infinity' END)
            AND (run.installation_id, run.queued_at) <= (p_installation_id, p_now)
        ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1));
    IF v_mark.installation_id IS NOT NULL THEN
        UPDATE claim_marks SET queued_at = v_begin,
            rescan_at = CASE WHEN v_mark.rescan_at <= p_now THEN v_rescan_at ELSE v_mark.rescan_at END
        WHERE installation_id = p_installation_id;
        RETURN;
    END IF;
    INSERT INTO claim_marks (installation_id, queued_at, rescan_at) VALUES (p_installation_id, v_begin, v_rescan_at)
        ON CONFLICT DO NOTHING;
END
$$;
--! end
--! begin functions/oldest_claimable_run.sql
-- Purpose: the oldest run of one installation that this runner may have, locked; runs that another claim holds are skipped.
--          While an old transaction keeps dead rows alive, claimed runs stay in the index ahead of the waiting ones. A
--          mark then says where the waiting ones begin: see note_claim_walk.
-- Outcomes: a run, or null when there is none. A run below the mark (it came with its repository from another
--   installation) is found by the next walk from the beginning, after five minutes. A run with needs is found whether it
--   lies below the mark or not.
-- Locks: the mark (never waited for) -> the run. Writes: claim_marks.
-- Internal: called only by next_claimable_run.
CREATE OR REPLACE FUNCTION boardreadyops_oldest_claimable_run(
    p_registration runner_registrations, p_installation_id bigint, p_capabilities text[], p_now timestamptz)
RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_from timestamptz;
    v_walked bigint;
    v_run release_runs;
BEGIN
    SELECT queued_at INTO v_from FROM claim_marks WHERE installation_id = p_installation_id AND rescan_at > p_now;
    IF NOT FOUND THEN
        -- One claim walks from the beginning, the others meanwhile go on from the old mark.
        PERFORM FROM claim_marks WHERE installation_id = p_installation_id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            SELECT queued_at INTO v_from FROM claim_marks WHERE installation_id = p_installation_id;
        END IF;
    END IF;
    IF v_from IS NOT NULL THEN
        v_from := LEAST(v_from, (SELECT run.queued_at FROM release_runs AS run
            WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
                AND run.superseded_by IS NULL AND run.needs <> '{}' AND run.installation_id = p_installation_id
                AND boardreadyops_capabilities_meet(p_capabilities, run.needs)
            ORDER BY run.queued_at LIMIT 1));
    END IF;

    -- Pairs, and not an equal installation: only release_runs_claimable has this order, whatever statistics say.
    v_walked := COALESCE(pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass), 0);
    SELECT * INTO v_run FROM release_runs AS run
    WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
        AND run.superseded_by IS NULL
        AND (run.installation_id, run.queued_at) >= (p_installation_id, COALESCE(v_from, '-infinity'))
        AND (run.installation_id, run.queued_at) <= (p_installation_id, p_now)
        AND (p_registration.repository_ids IS NULL OR run.repository_id = ANY (p_registration.repository_ids))
        AND (run.needs = '{}' OR boardreadyops_capabilities_meet(p_capabilities, run.needs))
    ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    v_walked := COALESCE(pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass), 0) - v_walked;
    IF p_registration.repository_ids IS NULL THEN
        PERFORM boardreadyops_note_claim_walk(p_installation_id, v_walked, p_now);
    END IF;
    RETURN v_run;
END
$$;
--! end
--! begin functions/next_claimable_run.sql
-- Purpose: the run that this runner gets next, locked; runs that another claim holds are skipped. Installations take turns:
--          the search starts behind the installation that was served last and inside one goes by age. `queued_at` may lie
--          ahead, for a run that was given back and waits.
-- Outcomes: a run, or null when there is none.
-- Locks: a claim mark (never waited for) -> the run. Writes: claim_marks; the turn, a sequence: it is advisory, so that it
--   needs no lock and survives no crash it should not.
-- Internal: called only by claim_runner_lease.
CREATE OR REPLACE FUNCTION boardreadyops_next_claimable_run(
    p_registration runner_registrations, p_capabilities text[], p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_after bigint;
    v_served bigint;
    v_marked bigint;
    v_walked bigint;
    v_run release_runs;
BEGIN
    IF p_registration.installation_id IS NOT NULL THEN
        RETURN boardreadyops_oldest_claimable_run(
            p_registration, p_registration.installation_id, p_capabilities, p_now);
    END IF;
    SELECT last_value INTO v_served FROM claim_turn;
    v_after := v_served;
    LOOP
        SELECT min(installation_id) INTO v_marked FROM claim_marks WHERE installation_id > v_after;
        IF v_marked IS DISTINCT FROM v_after + 1 THEN
            v_walked := COALESCE(pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass), 0);
            SELECT * INTO v_run FROM release_runs AS run
            WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
                AND run.superseded_by IS NULL AND run.installation_id > v_after
                AND run.installation_id < COALESCE(v_marked, 9223372036854775807) AND run.queued_at <= p_now
                AND (run.needs = '{}' OR boardreadyops_capabilities_meet(p_capabilities, run.needs))
            ORDER BY run.installation_id, run.queued_at, run.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
            IF FOUND THEN
                PERFORM boardreadyops_note_claim_walk(v_run.installation_id,
                    pg_stat_get_xact_tuples_returned('release_runs_claimable'::regclass) - v_walked, p_now);
            END IF;
        END IF;
        IF v_run.id IS NULL AND v_marked IS NOT NULL THEN
            v_run := boardreadyops_oldest_claimable_run(p_registration, v_marked, p_capabilities, p_now);
        END IF;
        IF v_run.id IS NOT NULL THEN
            PERFORM setval('claim_turn', v_run.installation_id);
            RETURN v_run;
        END IF;
        EXIT WHEN v_marked IS NULL AND v_served = 0;
        -- The last one was reached: once more from the first.
        v_after := COALESCE(v_marked, 0);
        v_served := CASE WHEN v_marked IS NULL THEN 0 ELSE v_served END;
    END LOOP;
    RETURN NULL;
END
$$;
--! end
--! begin functions/claim_runner_lease.sql
-- Purpose: hands the next claimable run to a runner: a new attempt, the run's pointer to it, and a lease bound to the
--          lifecycle snapshot it owns, in one transaction.
-- Outcomes: revoked (unknown or revoked registration) | existing (the same request again, its lease still alive: the same
--   lease) | ended (the same request again, its lease over) | none (nothing to do) | created.
-- Locks: registration -> run -> attempt -> lease -> publication.
-- Writes: run, attempt, event, lease, publication.
CREATE OR REPLACE FUNCTION boardreadyops_claim_runner_lease(
    p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (claim_outcome text, lease_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_registration runner_registrations;
    v_lease runner_leases;
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
    v_lease_seconds integer;
BEGIN
    SELECT * INTO v_registration FROM runner_registrations WHERE id = p_registration_id FOR NO KEY UPDATE;
    IF NOT FOUND OR v_registration.revoked_at IS NOT NULL THEN
        RETURN QUERY SELECT 'revoked'::text, NULL::uuid;
        RETURN;
    END IF;
    SELECT * INTO v_lease FROM runner_leases WHERE registration_id = p_registration_id AND request_id = p_request_id;
    IF FOUND THEN
        RETURN QUERY SELECT CASE v_lease.state WHEN 'active' THEN 'existing' ELSE 'ended' END, v_lease.id;
        RETURN;
    END IF;
    v_run := boardreadyops_next_claimable_run(v_registration, p_capabilities, COALESCE(p_now, clock_timestamp()));
    IF v_run.id IS NULL THEN
        RETURN QUERY SELECT 'none'::text, NULL::uuid;
        RETURN;
    END IF;

    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at);
    INSERT INTO release_run_attempts (installation_id, repository_id, release_run_id, number, retry_id, status,
                                      created_at, updated_at)
    SELECT v_run.installation_id, v_run.repository_id, v_run.id, COALESCE(max(number), 0) + 1, v_run.retry_id,
           'in_progress', v_now, v_now
    FROM release_run_attempts WHERE release_run_id = v_run.id
    RETURNING * INTO STRICT v_attempt;
    v_run.execution_attempt_id := v_attempt.id;
    v_run := boardreadyops_move_release_run(v_run, 'running', 'runner_lease_claimed', v_now);
    SELECT lease_seconds INTO STRICT v_lease_seconds FROM deployment_settings;
    INSERT INTO runner_leases (installation_id, registration_id, request_id, release_run_id, execution_attempt_id, retry_id,
        expected_run_status, expected_run_version, expected_attempt_status, expected_attempt_version, lease_seconds,
        claimed_at, heartbeat_at, expires_at, maximum_expires_at, next_check_at)
    SELECT v_run.installation_id, p_registration_id, p_request_id, v_run.id, v_attempt.id, v_run.retry_id,
        v_run.status, v_run.version, v_attempt.status, v_attempt.version, v_lease_seconds,
        v_now, v_now, ends.at, v_run.due_at, ends.at
    FROM (SELECT LEAST(v_now + make_interval(secs => v_lease_seconds), v_run.due_at) AS at) AS ends
    RETURNING * INTO STRICT v_lease;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'created'::text, v_lease.id;
END
$$;
--! end
--! begin functions/advance_lease_stage.sql
-- Purpose: a heartbeat told a later stage. uploading_artifacts and reporting move the attempt once (runner_lease_heartbeat);
--          every later stage is something a person sees, so the publication is raised. Drift of run, attempt or pointer
--          from the lease's snapshot fails closed: nothing is changed.
-- Outcomes: true when the stage was advanced.
-- Locks: run -> attempt -> lease -> publication. Writes: attempt, event, lease, publication.
-- Internal: called only by heartbeat_runner_lease.
CREATE OR REPLACE FUNCTION boardreadyops_advance_lease_stage(
    p_lease runner_leases, p_stage text, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
BEGIN
    SELECT * INTO STRICT v_run FROM release_runs WHERE id = p_lease.release_run_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = p_lease.execution_attempt_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease.id FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF v_lease.state <> 'active' OR v_lease.maximum_expires_at <= v_now OR v_lease.stage IS DISTINCT FROM p_lease.stage
        OR NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
        RETURN false;
    END IF;

    IF p_stage IN ('uploading_artifacts', 'reporting') AND v_attempt.status IS DISTINCT FROM p_stage THEN
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_stage, 'runner_lease_heartbeat', v_now);
    END IF;
    UPDATE runner_leases SET stage = p_stage WHERE id = v_lease.id;
    PERFORM boardreadyops_settle_lease(v_run, v_attempt);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN true;
END
$$;
--! end
--! begin functions/heartbeat_runner_lease.sql
-- Purpose: a runner says that it is alive and how far it is; the lease is extended, never beyond its maximum. An overdue
--          lease that no sweep has taken yet is still its own. Only a later stage touches run and attempt: see
--          advance_lease_stage.
-- Outcomes: no row for an unknown lease; else the lease's state, `continue` or `stop`, for an ended lease the reason, and
--   the seconds left, counted at the database's clock. An earlier stage is ignored. Idempotent.
-- Locks: an unchanged stage: the lease alone. A later one: run -> attempt -> lease -> publication.
-- Writes: the lease; for a later stage also attempt, event, publication.
CREATE OR REPLACE FUNCTION boardreadyops_heartbeat_runner_lease(
    p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (lease_state text, directive text, reason text, expires_in_seconds integer,
               maximum_expires_in_seconds integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_stages CONSTANT text[] := ARRAY['claimed', 'preparing_source', 'running', 'uploading_artifacts', 'reporting'];
    v_lease runner_leases;
    v_now timestamptz;
    v_alive boolean;
BEGIN
    SELECT * INTO v_lease FROM runner_leases WHERE id = p_lease_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF v_lease.state = 'active'
        AND array_position(v_stages, p_stage) > array_position(v_stages, v_lease.stage) THEN
        PERFORM boardreadyops_advance_lease_stage(v_lease, p_stage, p_now);
    END IF;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease_id FOR NO KEY UPDATE;
    v_now := COALESCE(p_now, clock_timestamp());
    v_alive := v_lease.state = 'active' AND v_lease.maximum_expires_at > v_now;
    IF v_alive THEN
        UPDATE runner_leases SET
            heartbeat_at = v_now, progress = p_progress, message = left(p_message, 500),
            expires_at = LEAST(v_now + make_interval(secs => v_lease.lease_seconds), v_lease.maximum_expires_at)
        WHERE id = p_lease_id RETURNING * INTO STRICT v_lease;
    END IF;
    RETURN QUERY SELECT
        CASE WHEN v_lease.state = 'active' AND NOT v_alive THEN 'expired' ELSE v_lease.state::text END,
        CASE WHEN v_alive THEN 'continue' ELSE 'stop' END,
        CASE WHEN NOT v_alive THEN (SELECT run.reason_code::text FROM release_runs AS run WHERE run.id = v_lease.release_run_id)
            END,
        GREATEST(0, floor(extract(epoch FROM v_lease.expires_at - v_now)))::integer,
        GREATEST(0, floor(extract(epoch FROM v_lease.maximum_expires_at - v_now)))::integer;
END
$$;
--! end
--! begin functions/give_back_run.sql
-- Purpose: a lease is over and its run is not: attempt and lease end, the run goes back to the queue; or, when it has been
--          lost or given back too often, it fails. The caller has raised lost_attempts or given_back in p_run.
-- Outcomes: the run as stored: queued, or failed with runner_attempts_exhausted.
-- Locks: none of its own; the caller holds run, attempt and lease. Writes: run, attempt, events, lease, publication.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_give_back_run(
    p_run release_runs, p_attempt release_run_attempts, p_attempt_status text, p_lease_id uuid, p_lease_state text,
    p_reason_code text, p_delay_seconds integer, p_now timestamptz) RETURNS release_runs
LANGUAGE plpgsql AS $$
DECLARE
    v_given_back_limit CONSTANT integer := 20;
    v_run release_runs := p_run;
    v_attempt release_run_attempts := p_attempt;
BEGIN
    UPDATE runner_leases SET state = p_lease_state, ended_at = p_now WHERE id = p_lease_id;
    IF v_run.lost_attempts >= (SELECT max_execution_attempts FROM deployment_settings)
        OR v_run.given_back >= v_given_back_limit THEN
        v_attempt.inferred := true;
        PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'runner_attempts_exhausted', p_now);
        v_run := boardreadyops_move_release_run(v_run, 'failed', 'runner_attempts_exhausted', p_now);
    ELSE
        PERFORM boardreadyops_move_execution_attempt(v_attempt, p_attempt_status, p_reason_code, p_now);
        v_run.queued_at := p_now + make_interval(secs => p_delay_seconds);
        v_run := boardreadyops_move_release_run(v_run, 'queued', p_reason_code, p_now);
    END IF;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN v_run;
END
$$;
--! end
--! begin functions/relinquish_runner_lease.sql
-- Purpose: a runner gives its run back. `job_error` fails the attempt and counts as a lost one; shutdown, capacity, operator
--          and capability leave it stale, cost none, and wait a little before the next claim. `capability` stores what was
--          missing, so that only a runner that has it is handed the run.
-- Outcomes, in this order: not_found | replayed (relinquished before) | stale (the lease is over, or its snapshot no longer
--   holds) | invalid (unknown reason) | accepted. Anything but accepted changes nothing.
-- Locks: run -> attempt -> lease -> publication. Writes: run, attempt, events, lease, publication.
CREATE OR REPLACE FUNCTION boardreadyops_relinquish_runner_lease(
    p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
    v_delay_seconds integer := 0;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = (SELECT release_run_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts
        WHERE id = (SELECT execution_attempt_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease_id FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF v_lease.state <> 'active' OR NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
        RETURN CASE v_lease.state WHEN 'relinquished' THEN 'replayed' ELSE 'stale' END;
    END IF;
    IF COALESCE(p_reason NOT IN ('shutdown', 'capacity', 'operator', 'job_error', 'capability'), true) THEN
        RETURN 'invalid';
    END IF;

    IF p_reason = 'job_error' THEN
        v_run.lost_attempts := v_run.lost_attempts + 1;
    ELSE
        v_run.given_back := v_run.given_back + 1;
        v_delay_seconds := LEAST(60, 2 ^ v_run.given_back);
    END IF;
    IF p_reason = 'capability' THEN
        v_run.needs := (SELECT COALESCE(array_agg(DISTINCT left(need, 200) ORDER BY left(need, 200)), '{}')
                        FROM unnest((v_run.needs || p_needs)[1:20]) AS need);
    END IF;
    UPDATE runner_leases SET message = left(COALESCE(p_message, ''), 500) WHERE id = p_lease_id;
    PERFORM boardreadyops_give_back_run(
        v_run, v_attempt, CASE p_reason WHEN 'job_error' THEN 'failed' ELSE 'stale' END, p_lease_id, 'relinquished',
        'runner_lease_relinquished', v_delay_seconds, v_now);
    RETURN 'accepted';
END
$$;
--! end
--! begin functions/revoke_runner.sql
-- Purpose: a registration is void from now on, and every lease it holds ends at once as a lost attempt.
--          A lease whose snapshot drifted is closed and changes nothing else, as at its expiry.
-- Outcomes, in this order: not_found | existing (revoked before) | applied. Idempotent.
-- Locks: registration -> runs in ascending id -> attempt -> lease -> publication.
-- Writes: registration, runs, attempts, events, leases, publications.
CREATE OR REPLACE FUNCTION boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamptz DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_registration runner_registrations;
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_registration FROM runner_registrations WHERE id = p_registration_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_registration.revoked_at IS NOT NULL THEN
        RETURN 'existing';
    END IF;

    UPDATE runner_registrations SET revoked_at = COALESCE(p_now, clock_timestamp()) WHERE id = p_registration_id;
    PERFORM FROM release_runs AS run WHERE run.id IN (SELECT lease.release_run_id
        FROM runner_leases AS lease WHERE lease.registration_id = p_registration_id AND lease.state = 'active')
        ORDER BY run.id FOR NO KEY UPDATE;
    FOR v_lease IN SELECT * FROM runner_leases WHERE registration_id = p_registration_id AND state = 'active'
        ORDER BY release_run_id
    LOOP
        SELECT * INTO STRICT v_run FROM release_runs WHERE id = v_lease.release_run_id;
        SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = v_lease.execution_attempt_id FOR NO KEY UPDATE;
        SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = v_lease.id FOR NO KEY UPDATE;
        v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
        IF NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
            UPDATE runner_leases SET state = 'revoked', ended_at = v_now WHERE id = v_lease.id;
            CONTINUE;
        END IF;
        v_run.lost_attempts := v_run.lost_attempts + 1;
        PERFORM boardreadyops_give_back_run(
            v_run, v_attempt, 'stale', v_lease.id, 'revoked', 'runner_lease_revoked', 0, v_now);
    END LOOP;
    RETURN 'applied';
END
$$;
--! end

--! begin functions/rotate_runner_token.sql
-- Purpose: a registration answers to a new token from now on and no longer to the one it had; its leases, which have tokens of
--          their own, go on.
-- Outcomes, in this order: not_found | revoked (a void registration gets no token) | existing (this token already) | applied.
--   Idempotent.
-- Locks: registration. Writes: registration.
CREATE OR REPLACE FUNCTION boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_registration runner_registrations;
BEGIN
    SELECT * INTO v_registration FROM runner_registrations WHERE id = p_registration_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_registration.revoked_at IS NOT NULL THEN
        RETURN 'revoked';
    END IF;
    IF v_registration.token_digest = p_token_digest THEN
        RETURN 'existing';
    END IF;

    UPDATE runner_registrations SET token_digest = p_token_digest WHERE id = p_registration_id;
    RETURN 'applied';
END
$$;
--! end
--! begin functions/grant_grace.sql
-- Purpose: notices that nobody swept for a while, which means that runners could not reach us either, and gives every active
--          lease one lease length from now, never beyond its maximum.
-- Outcomes: until when no lease may expire but at its maximum, null if any may; the mark is moved at most every few seconds.
-- Locks: the sweep mark (skipped when another sweep holds it) -> leases, skipping locked ones: the mark covers them.
-- Writes: sweep_marks, runner_leases.
-- Internal: called only by expire_runner_leases.
CREATE OR REPLACE FUNCTION boardreadyops_grant_grace(p_now timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    v_mark_every CONSTANT interval := interval '5 seconds';
    v_mark sweep_marks;
    v_lease_length interval;
    v_late boolean;
BEGIN
    SELECT * INTO STRICT v_mark FROM sweep_marks WHERE sweep = 'leases';
    IF v_mark.swept_at >= p_now - v_mark_every THEN
        RETURN v_mark.grace_until;
    END IF;
    SELECT make_interval(secs => lease_seconds) INTO STRICT v_lease_length FROM deployment_settings;
    v_late := p_now - v_mark.swept_at > GREATEST(v_lease_length / 3, v_mark_every * 2);
    PERFORM FROM sweep_marks WHERE sweep = 'leases' AND swept_at = v_mark.swept_at FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        -- Another sweep is granting it, and what it writes cannot be seen yet.
        RETURN CASE WHEN v_late THEN p_now + v_lease_length ELSE v_mark.grace_until END;
    END IF;
    UPDATE sweep_marks SET swept_at = p_now, grace_until = CASE WHEN v_late THEN p_now + v_lease_length ELSE grace_until END
        WHERE sweep = 'leases' RETURNING * INTO STRICT v_mark;
    IF v_late THEN
        UPDATE runner_leases SET
            expires_at = LEAST(GREATEST(expires_at, v_mark.grace_until), maximum_expires_at),
            next_check_at = LEAST(GREATEST(expires_at, v_mark.grace_until), maximum_expires_at)
        WHERE id IN (SELECT id FROM runner_leases WHERE state = 'active' AND next_check_at IS NOT NULL
            FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN v_mark.grace_until;
END
$$;
--! end
--! begin functions/expire_runner_lease.sql
-- Purpose: looks at one lease that is due: see expire_runner_leases.
-- Outcomes: rearmed | timed_out | requeued | exhausted | closed; null when another transaction holds its run or it is over.
-- Locks: run (skipped when locked) -> attempt -> lease -> outbox/publication.
-- Writes: lease, run, attempt, events, outbox, publication.
-- Internal: called only by expire_runner_leases.
CREATE OR REPLACE FUNCTION boardreadyops_expire_runner_lease(p_lease_id uuid, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_lease runner_leases;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = (SELECT release_run_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts
        WHERE id = (SELECT execution_attempt_id FROM runner_leases WHERE id = p_lease_id) FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_lease FROM runner_leases WHERE id = p_lease_id FOR NO KEY UPDATE;
    v_now := GREATEST(p_now, v_run.updated_at, v_attempt.updated_at);
    IF v_lease.state <> 'active' THEN
        RETURN NULL;
    END IF;
    IF v_lease.expires_at > p_now THEN
        UPDATE runner_leases SET next_check_at = expires_at WHERE id = p_lease_id;
        RETURN 'rearmed';
    END IF;
    IF NOT boardreadyops_lease_holds(v_run, v_attempt, v_lease) THEN
        UPDATE runner_leases SET state = 'expired', ended_at = v_now WHERE id = p_lease_id;
        RETURN 'closed';
    END IF;
    IF v_lease.maximum_expires_at <= p_now THEN
        UPDATE release_run_attempts SET inferred = true WHERE id = v_attempt.id;
        PERFORM boardreadyops_end_release_run(v_run, 'timed_out', 'run_deadline_exceeded', v_now);
        RETURN 'timed_out';
    END IF;

    v_run.lost_attempts := v_run.lost_attempts + 1;
    v_run := boardreadyops_give_back_run(
        v_run, v_attempt, 'stale', p_lease_id, 'expired', 'runner_lease_expired', 0, v_now);
    RETURN CASE v_run.status WHEN 'failed' THEN 'exhausted' ELSE 'requeued' END;
END
$$;
--! end
--! begin functions/expire_runner_leases.sql
-- Purpose: takes back leases whose runner fell silent, and ends runs whose lease reached its maximum (the run deadline is
--          tested first). A lease that was extended since its last look is looked at later. After an outage of ours, when no
--          sweep looked for a third of a lease, every active lease first gets one lease length of grace.
-- Outcomes: one row per lease: rearmed | timed_out | requeued | exhausted | closed (drift from its snapshot: the lease ends,
--   nothing newer is touched). At most p_limit; with p_only_lease_id only that lease.
-- Locks: sweep mark; run (skipping locked ones) -> attempt -> lease -> outbox/publication.
-- Writes: leases, runs, attempts, events, outbox, publications, the sweep mark.
CREATE OR REPLACE FUNCTION boardreadyops_expire_runner_leases(
    p_limit integer, p_only_lease_id uuid DEFAULT NULL, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (lease_id uuid, expiry_outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_grace_until timestamptz;
BEGIN
    v_grace_until := boardreadyops_grant_grace(v_now);
    FOR lease_id IN SELECT lease.id FROM runner_leases AS lease
        WHERE lease.state = 'active' AND lease.next_check_at <= v_now
            AND (p_only_lease_id IS NULL OR lease.id = p_only_lease_id)
            AND (v_grace_until IS NULL OR v_grace_until <= v_now OR lease.maximum_expires_at <= v_now)
        ORDER BY lease.next_check_at LIMIT p_limit
    LOOP
        expiry_outcome := boardreadyops_expire_runner_lease(lease_id, v_now);
        IF expiry_outcome IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
--! end

ALTER TABLE runner_registrations ENABLE ROW LEVEL SECURITY;
ALTER TABLE runner_enrollments ENABLE ROW LEVEL SECURITY;
ALTER TABLE runner_leases ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON runner_registrations FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY app_all ON runner_enrollments FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY app_all ON runner_leases FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON runner_leases FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));
-- A managed runner belongs to no tenant; its name is shown where it worked.
CREATE POLICY reader_tenant ON runner_registrations FOR SELECT TO boardreadyops_reader
    USING (installation_id IS NULL OR boardreadyops_tenant_visible(installation_id));

CREATE VIEW page_runs WITH (security_invoker = true) AS
    SELECT run.id, run.installation_id, run.repository_id, repository.owner AS repository_owner,
           repository.name AS repository_name, run.ref, run.pull_request_number, run.commit_sha, run.base_sha,
           run.status, run.version, run.decision, run.reason_code, run.execution_attempt_id, run.execution_backend,
           run.trust_mode, run.approval, run.retry_id, run.retry_number, run.superseded_by, run.cancelled_by,
           run.due_at, run.created_at, run.queued_at, run.updated_at, run.finished_at, run.needs
    FROM release_runs AS run JOIN repositories AS repository ON repository.id = run.repository_id;
CREATE VIEW page_attempts WITH (security_invoker = true) AS
    SELECT attempt.id, attempt.release_run_id, attempt.number, attempt.retry_id, attempt.status, attempt.version,
           attempt.inferred, attempt.created_at, attempt.updated_at, attempt.finished_at,
           lease.id AS lease_id, lease.state AS lease_state, lease.stage, lease.progress, lease.message,
           lease.heartbeat_at, lease.expires_at, registration.name AS runner_name
    FROM release_run_attempts AS attempt
    LEFT JOIN runner_leases AS lease ON lease.execution_attempt_id = attempt.id
    LEFT JOIN runner_registrations AS registration ON registration.id = lease.registration_id;

GRANT SELECT ON sweep_marks, runner_registrations, runner_enrollments, runner_leases, page_runs, page_attempts TO boardreadyops_app;
GRANT SELECT (id, owner, name, installation_id, private) ON repositories TO boardreadyops_reader;
GRANT SELECT (id, account_login, suspended, removed) ON installations TO boardreadyops_reader;
GRANT SELECT (id, installation_id, repository_id, ref, pull_request_number, commit_sha, base_sha, status, version,
              decision, reason_code, execution_attempt_id, execution_backend, trust_mode, approval, retry_id,
              retry_number, superseded_by, cancelled_by, due_at, created_at, queued_at, updated_at, finished_at, needs)
    ON release_runs TO boardreadyops_reader;
GRANT SELECT (id, installation_id, release_run_id, number, retry_id, status, version, inferred, created_at, updated_at,
              finished_at)
    ON release_run_attempts TO boardreadyops_reader;
GRANT SELECT (id, installation_id, registration_id, execution_attempt_id, state, stage, progress, message, heartbeat_at,
              expires_at)
    ON runner_leases TO boardreadyops_reader;
GRANT SELECT (id, installation_id, name) ON runner_registrations TO boardreadyops_reader;
GRANT SELECT ON page_runs, page_attempts TO boardreadyops_reader;
GRANT EXECUTE ON FUNCTION boardreadyops_issue_runner_enrollment, boardreadyops_register_runner,
    boardreadyops_claim_runner_lease, boardreadyops_heartbeat_runner_lease, boardreadyops_relinquish_runner_lease,
    boardreadyops_revoke_runner, boardreadyops_rotate_runner_token, boardreadyops_expire_runner_leases TO boardreadyops_app;
