-- Written by `make snapshot`: an empty database after all migrations. Never edited, never run.
--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: public; Type: SCHEMA; Schema: -; Owner: boardreadyops_owner
--

-- *not* creating schema, since initdb creates it


ALTER SCHEMA public OWNER TO boardreadyops_owner;

--
-- Name: approval; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.approval AS text
	CONSTRAINT approval_check CHECK ((VALUE = ANY (ARRAY['not_needed'::text, 'waiting'::text, 'approved'::text])));


ALTER DOMAIN public.approval OWNER TO boardreadyops_owner;

--
-- Name: attempt_status; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.attempt_status AS text
	CONSTRAINT attempt_status_check CHECK ((VALUE = ANY (ARRAY['queued'::text, 'dispatching'::text, 'dispatched'::text, 'in_progress'::text, 'uploading_artifacts'::text, 'reporting'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'timed_out'::text, 'stale'::text, 'superseded'::text])));


ALTER DOMAIN public.attempt_status OWNER TO boardreadyops_owner;

--
-- Name: capabilities; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.capabilities AS text[]
	CONSTRAINT capabilities_check CHECK ((cardinality(VALUE) <= 20));


ALTER DOMAIN public.capabilities OWNER TO boardreadyops_owner;

--
-- Name: chain_hash; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.chain_hash AS bytea
	CONSTRAINT chain_hash_check CHECK ((length(VALUE) = ANY (ARRAY[0, 32])));


ALTER DOMAIN public.chain_hash OWNER TO boardreadyops_owner;

--
-- Name: check_name; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.check_name AS text
	CONSTRAINT check_name_check CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 200)));


ALTER DOMAIN public.check_name OWNER TO boardreadyops_owner;

--
-- Name: commit_sha; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.commit_sha AS text
	CONSTRAINT commit_sha_check CHECK (((length(VALUE) = ANY (ARRAY[40, 64])) AND (translate(VALUE, '0123456789abcdef'::text, ''::text) = ''::text)));


ALTER DOMAIN public.commit_sha OWNER TO boardreadyops_owner;

--
-- Name: counter; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.counter AS integer
	CONSTRAINT counter_check CHECK ((VALUE >= 0));


ALTER DOMAIN public.counter OWNER TO boardreadyops_owner;

--
-- Name: decision; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.decision AS text
	CONSTRAINT decision_check CHECK ((VALUE = ANY (ARRAY['pass'::text, 'fail'::text, 'error'::text])));


ALTER DOMAIN public.decision OWNER TO boardreadyops_owner;

--
-- Name: digest; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.digest AS bytea
	CONSTRAINT digest_check CHECK ((length(VALUE) = 32));


ALTER DOMAIN public.digest OWNER TO boardreadyops_owner;

--
-- Name: effect_kind; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.effect_kind AS text
	CONSTRAINT effect_kind_check CHECK ((VALUE = ANY (ARRAY['confirm_pull_request'::text, 'confirm_ref'::text, 'workflow_dispatch'::text, 'workflow_cancel'::text])));


ALTER DOMAIN public.effect_kind OWNER TO boardreadyops_owner;

--
-- Name: entity_type; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.entity_type AS text
	CONSTRAINT entity_type_check CHECK ((VALUE = ANY (ARRAY['release_run'::text, 'execution_attempt'::text])));


ALTER DOMAIN public.entity_type OWNER TO boardreadyops_owner;

--
-- Name: execution_backend; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.execution_backend AS text
	CONSTRAINT execution_backend_check CHECK ((VALUE = ANY (ARRAY['runner'::text, 'actions'::text])));


ALTER DOMAIN public.execution_backend OWNER TO boardreadyops_owner;

--
-- Name: git_ref; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.git_ref AS text
	CONSTRAINT git_ref_check CHECK (((VALUE ~~ 'refs/%'::text) AND (length(VALUE) <= 500)));


ALTER DOMAIN public.git_ref OWNER TO boardreadyops_owner;

--
-- Name: github_id; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.github_id AS bigint
	CONSTRAINT github_id_check CHECK ((VALUE > 0));


ALTER DOMAIN public.github_id OWNER TO boardreadyops_owner;

--
-- Name: last_error; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.last_error AS text
	CONSTRAINT last_error_check CHECK ((length(VALUE) <= 500));


ALTER DOMAIN public.last_error OWNER TO boardreadyops_owner;

--
-- Name: lease_message; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.lease_message AS text
	CONSTRAINT lease_message_check CHECK ((length(VALUE) <= 500));


ALTER DOMAIN public.lease_message OWNER TO boardreadyops_owner;

--
-- Name: lease_stage; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.lease_stage AS text
	CONSTRAINT lease_stage_check CHECK ((VALUE = ANY (ARRAY['claimed'::text, 'preparing_source'::text, 'running'::text, 'uploading_artifacts'::text, 'reporting'::text])));


ALTER DOMAIN public.lease_stage OWNER TO boardreadyops_owner;

--
-- Name: lease_state; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.lease_state AS text
	CONSTRAINT lease_state_check CHECK ((VALUE = ANY (ARRAY['active'::text, 'expired'::text, 'revoked'::text, 'completed'::text, 'relinquished'::text, 'superseded'::text, 'cancelled'::text, 'timed_out'::text, 'failed'::text])));


ALTER DOMAIN public.lease_state OWNER TO boardreadyops_owner;

--
-- Name: percentage; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.percentage AS integer
	CONSTRAINT percentage_check CHECK (((VALUE >= 0) AND (VALUE <= 100)));


ALTER DOMAIN public.percentage OWNER TO boardreadyops_owner;

--
-- Name: person; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.person AS text
	CONSTRAINT person_check CHECK ((length(VALUE) <= 200));


ALTER DOMAIN public.person OWNER TO boardreadyops_owner;

--
-- Name: positive_integer; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.positive_integer AS integer
	CONSTRAINT positive_integer_check CHECK ((VALUE > 0));


ALTER DOMAIN public.positive_integer OWNER TO boardreadyops_owner;

--
-- Name: reason_code; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.reason_code AS text
	CONSTRAINT reason_code_check CHECK (((VALUE ~ '^[a-z0-9]+([._-][a-z0-9]+)*$'::text) AND (length(VALUE) <= 128)));


ALTER DOMAIN public.reason_code OWNER TO boardreadyops_owner;

--
-- Name: ref_name; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.ref_name AS text
	CONSTRAINT ref_name_check CHECK ((length(VALUE) <= 500));


ALTER DOMAIN public.ref_name OWNER TO boardreadyops_owner;

--
-- Name: run_status; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.run_status AS text
	CONSTRAINT run_status_check CHECK ((VALUE = ANY (ARRAY['queued'::text, 'dispatched'::text, 'running'::text, 'completed'::text, 'failed'::text, 'timed_out'::text, 'cancelled'::text, 'superseded'::text])));


ALTER DOMAIN public.run_status OWNER TO boardreadyops_owner;

--
-- Name: trust_mode; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.trust_mode AS text
	CONSTRAINT trust_mode_check CHECK ((VALUE = ANY (ARRAY['trusted'::text, 'fork'::text])));


ALTER DOMAIN public.trust_mode OWNER TO boardreadyops_owner;

--
-- Name: version; Type: DOMAIN; Schema: public; Owner: boardreadyops_owner
--

CREATE DOMAIN public.version AS bigint
	CONSTRAINT version_check CHECK ((VALUE >= 0));


ALTER DOMAIN public.version OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_acknowledge_publication(bigint, bigint, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_acknowledge_publication(p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    -- A run that moved between the reading and the retelling of its state would be told wrongly for ever.
    PERFORM FROM release_runs AS run WHERE run.id IN (
        SELECT refs.release_run_id FROM refs JOIN publications AS landing
            ON landing.repository_id = refs.repository_id AND landing.commit_sha = refs.head_sha
        WHERE landing.id = p_publication_id AND refs.open AND landing.payload ->> 'status' IN ('cancelled', 'superseded'))
        ORDER BY run.id FOR SHARE;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_publication.generation IS DISTINCT FROM p_generation OR NOT v_publication.leased THEN
        UPDATE publications SET verify_at = LEAST(COALESCE(verify_at, v_now), v_now) WHERE id = p_publication_id;
        RETURN 'stale';
    END IF;

    UPDATE publications SET
        acked_seq = GREATEST(acked_seq, LEAST(p_seq, desired_seq)),
        acked_at = v_now,
        available_at = v_now,
        leased = false, doubtful = false, claimed_until = NULL, send_count = 0, last_error = NULL
    WHERE id = p_publication_id RETURNING * INTO STRICT v_publication;
    IF v_publication.payload ->> 'status' IN ('cancelled', 'superseded')
        AND v_publication.acked_seq = v_publication.desired_seq THEN
        PERFORM boardreadyops_republish_worst(v_publication, v_now);
    END IF;
    RETURN 'applied';
END
$$;


ALTER FUNCTION public.boardreadyops_acknowledge_publication(p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_acknowledge_workflow_dispatch(bigint, bigint, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_acknowledge_workflow_dispatch(p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_acknowledge_workflow_dispatch(p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: refs; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.refs (
    repository_id bigint NOT NULL,
    installation_id bigint NOT NULL,
    ref public.git_ref NOT NULL,
    pull_request_number public.positive_integer,
    open boolean NOT NULL,
    draft boolean NOT NULL,
    base_ref public.ref_name,
    base_sha text,
    head_sha public.commit_sha NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    observation bigint DEFAULT 0 NOT NULL,
    release_run_id uuid,
    trust_mode public.trust_mode NOT NULL,
    level_due_at timestamp with time zone,
    deleted_at timestamp with time zone
);


ALTER TABLE public.refs OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_adopt_observation(public.refs, bigint); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_adopt_observation(p_observed public.refs, p_confirmed_observation bigint) RETURNS text
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_adopt_observation(p_observed public.refs, p_confirmed_observation bigint) OWNER TO boardreadyops_owner;

--
-- Name: runner_leases; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.runner_leases (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    installation_id bigint NOT NULL,
    registration_id uuid NOT NULL,
    request_id uuid NOT NULL,
    release_run_id uuid NOT NULL,
    execution_attempt_id uuid NOT NULL,
    retry_id uuid NOT NULL,
    state public.lease_state DEFAULT 'active'::text NOT NULL,
    stage public.lease_stage DEFAULT 'claimed'::text NOT NULL,
    progress public.percentage DEFAULT 0 NOT NULL,
    message public.lease_message DEFAULT ''::text NOT NULL,
    expected_run_status text NOT NULL,
    expected_run_version bigint NOT NULL,
    expected_attempt_status text NOT NULL,
    expected_attempt_version bigint NOT NULL,
    lease_seconds integer NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    heartbeat_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    maximum_expires_at timestamp with time zone NOT NULL,
    next_check_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT active_means_not_ended CHECK ((((state)::text = 'active'::text) = (ended_at IS NULL))),
    CONSTRAINT never_beyond_the_maximum CHECK ((expires_at <= maximum_expires_at))
)
WITH (fillfactor='70');


ALTER TABLE public.runner_leases OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_advance_lease_stage(public.runner_leases, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_advance_lease_stage(p_lease public.runner_leases, p_stage text, p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_advance_lease_stage(p_lease public.runner_leases, p_stage text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: release_run_attempts; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.release_run_attempts (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL,
    number public.positive_integer NOT NULL,
    retry_id uuid NOT NULL,
    status public.attempt_status NOT NULL,
    inferred boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    version public.version DEFAULT 0 NOT NULL,
    event_hash public.chain_hash DEFAULT '\x'::bytea NOT NULL,
    workflow_run_id public.github_id,
    workflow_run_attempt public.positive_integer,
    CONSTRAINT terminal_means_finished CHECK ((((status)::text = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'timed_out'::text, 'stale'::text, 'superseded'::text])) = (finished_at IS NOT NULL)))
);


ALTER TABLE public.release_run_attempts OWNER TO boardreadyops_owner;

--
-- Name: release_runs; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.release_runs (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    ref public.git_ref NOT NULL,
    pull_request_number public.positive_integer,
    commit_sha public.commit_sha NOT NULL,
    base_sha public.commit_sha,
    status public.run_status DEFAULT 'queued'::text NOT NULL,
    decision public.decision,
    execution_attempt_id uuid,
    execution_backend public.execution_backend DEFAULT 'runner'::text NOT NULL,
    trust_mode public.trust_mode NOT NULL,
    approval public.approval DEFAULT 'not_needed'::text NOT NULL,
    retry_id uuid DEFAULT gen_random_uuid() NOT NULL,
    retry_number public.counter DEFAULT 0 NOT NULL,
    superseded_by uuid,
    reason_code public.reason_code,
    cancelled_by public.person,
    approved_by public.person,
    approved_at timestamp with time zone,
    lost_attempts public.counter DEFAULT 0 NOT NULL,
    given_back public.counter DEFAULT 0 NOT NULL,
    needs public.capabilities DEFAULT '{}'::text[] NOT NULL,
    due_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    version public.version DEFAULT 0 NOT NULL,
    event_hash public.chain_hash DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT completed_means_decided CHECK ((((status)::text = 'completed'::text) = COALESCE(((decision)::text = ANY (ARRAY['pass'::text, 'fail'::text])), false))),
    CONSTRAINT open_means_due CHECK (((finished_at IS NULL) = (due_at IS NOT NULL))),
    CONSTRAINT superseded_names_successor CHECK ((((status)::text <> 'superseded'::text) OR (superseded_by IS NOT NULL))),
    CONSTRAINT terminal_means_finished CHECK ((((status)::text = ANY (ARRAY['queued'::text, 'dispatched'::text, 'running'::text])) = (finished_at IS NULL)))
);


ALTER TABLE public.release_runs OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_advance_workflow(public.release_runs, public.release_run_attempts, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_advance_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_advance_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: release_run_transition_events; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.release_run_transition_events (
    id bigint NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL,
    execution_attempt_id uuid,
    entity_type public.entity_type NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    from_version public.version NOT NULL,
    to_version bigint NOT NULL,
    reason_code public.reason_code NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    change_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    hash public.digest NOT NULL,
    CONSTRAINT attempt_events_name_their_attempt CHECK ((((entity_type)::text = 'release_run'::text) OR (execution_attempt_id IS NOT NULL))),
    CONSTRAINT release_run_transition_events_check CHECK ((to_version = ((from_version)::bigint + 1)))
);


ALTER TABLE public.release_run_transition_events OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_append_transition_event(public.release_run_transition_events, bytea); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_append_transition_event(p_event public.release_run_transition_events, p_previous_hash bytea) RETURNS bytea
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_append_transition_event(p_event public.release_run_transition_events, p_previous_hash bytea) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_approve_release_run(bigint, uuid, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_approve_release_run(p_installation_id bigint, p_release_run_id uuid, p_approved_by text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_approve_release_run(p_installation_id bigint, p_release_run_id uuid, p_approved_by text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_ask_again(public.release_runs, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_ask_again(p_run public.release_runs, p_reason_code text, p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_ask_again(p_run public.release_runs, p_reason_code text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_audit_runner_result(public.release_run_attempts, uuid, text, bytea, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_audit_runner_result(p_attempt public.release_run_attempts, p_registration_id uuid, p_outcome text, p_body_sha256 bytea, p_status text, p_decision text, p_now timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_audit_id bigint;
BEGIN
    IF p_outcome = 'replayed' THEN
        RETURN NULL;
    END IF;
    SELECT id INTO v_audit_id FROM runner_result_audit WHERE release_run_id = p_attempt.release_run_id
        AND execution_attempt_id = p_attempt.id AND outcome = p_outcome AND body_sha256 = p_body_sha256;
    IF FOUND THEN
        RETURN v_audit_id;
    END IF;

    INSERT INTO runner_result_audit (installation_id, release_run_id, execution_attempt_id, registration_id, outcome,
                                     body_sha256, status, decision, received_at)
    VALUES (p_attempt.installation_id, p_attempt.release_run_id, p_attempt.id, p_registration_id, p_outcome,
            p_body_sha256, p_status, p_decision, p_now)
    RETURNING id INTO v_audit_id;
    RETURN v_audit_id;
END
$$;


ALTER FUNCTION public.boardreadyops_audit_runner_result(p_attempt public.release_run_attempts, p_registration_id uuid, p_outcome text, p_body_sha256 bytea, p_status text, p_decision text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_begin_workflow_dispatch(bigint, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_begin_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(dispatch_outcome text, release_run_id uuid, execution_attempt_id uuid, commit_sha text, started_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_begin_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_bind_workflow_run(public.release_runs, public.release_run_attempts, bigint, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_bind_workflow_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_bind_workflow_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_cancel_installation_runs(bigint, text, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_cancel_installation_runs(p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_cancel_installation_runs(p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_cancel_ref_runs(public.refs, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_cancel_ref_runs(p_ref public.refs, p_reason_code text, p_now timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_cancel_ref_runs(p_ref public.refs, p_reason_code text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_cancel_release_run(bigint, uuid, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_cancel_release_run(p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(cancel_outcome text, run_status text, run_version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
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
$_$;


ALTER FUNCTION public.boardreadyops_cancel_release_run(p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_capabilities_meet(text[], text[]); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_capabilities_meet(p_capabilities text[], p_needs text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $_$
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
$_$;


ALTER FUNCTION public.boardreadyops_capabilities_meet(p_capabilities text[], p_needs text[]) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_claim_outbox(integer, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_claim_outbox(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(effect_id bigint, generation bigint, kind text, installation_id bigint, repository_id bigint, repository_owner text, repository_name text, ref text, pull_request_number integer, send_count integer, release_run_id uuid, execution_attempt_id uuid, workflow_run_id bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_claim_outbox(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_claim_publications(integer, integer, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_claim_publications(p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(publication_id bigint, generation bigint, seq bigint, doubtful boolean, check_run_id bigint, installation_id bigint, repository_id bigint, repository_owner text, repository_name text, release_run_id uuid, retry_number integer, ordinal integer, commit_sha text, check_name text, external_id text, payload jsonb, send_count integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_due publications;
    v_row publications;
BEGIN
    FOR v_due IN
        SELECT due.* FROM publications AS due
        WHERE due.acked_seq < due.desired_seq AND due.closed_code IS NULL AND due.available_at <= v_now
            AND (due.claimed_until IS NULL OR due.claimed_until + make_interval(secs => p_doubt_seconds) <= v_now)
            AND NOT EXISTS (SELECT FROM publications AS busy WHERE busy.leased AND busy.closed_code IS NULL
                AND busy.repository_id = due.repository_id AND busy.commit_sha = due.commit_sha AND busy.id <> due.id)
            AND NOT EXISTS (SELECT FROM publications AS lower WHERE lower.acked_seq < lower.desired_seq
                AND lower.closed_code IS NULL AND lower.release_run_id = due.release_run_id
                AND lower.retry_number < due.retry_number)
        ORDER BY due.available_at, due.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(
            hashtextextended(v_due.repository_id || ' ' || v_due.commit_sha, 0));
        CONTINUE WHEN EXISTS (SELECT FROM publications AS busy WHERE busy.leased AND busy.closed_code IS NULL
            AND busy.repository_id = v_due.repository_id AND busy.commit_sha = v_due.commit_sha AND busy.id <> v_due.id);
        UPDATE publications AS claimed SET
            doubtful = claimed.doubtful OR claimed.leased,
            leased = true,
            generation = claimed.generation + 1,
            send_count = claimed.send_count + 1,
            claimed_until = v_now + make_interval(secs => p_lease_seconds)
        WHERE claimed.id = v_due.id RETURNING * INTO v_row;
        RETURN QUERY SELECT v_row.id, v_row.generation, v_row.desired_seq, v_row.doubtful, v_row.check_run_id::bigint,
            v_row.installation_id, v_row.repository_id, repository.owner, repository.name, v_row.release_run_id,
            v_row.retry_number, v_row.ordinal::integer, v_row.commit_sha, v_row.check_name::text, v_row.external_id,
            v_row.payload, v_row.send_count
        FROM repositories AS repository WHERE repository.id = v_row.repository_id;
    END LOOP;
END
$$;


ALTER FUNCTION public.boardreadyops_claim_publications(p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_claim_runner_lease(uuid, uuid, text[], timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_claim_runner_lease(p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(claim_outcome text, lease_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_claim_runner_lease(p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_claim_verifications(integer, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_claim_verifications(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(publication_id bigint, seq bigint, check_run_id bigint, installation_id bigint, repository_owner text, repository_name text, external_id text, release_run_id uuid, ordinal integer, payload jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    WITH due AS (
        SELECT publication.id FROM publications AS publication
        WHERE publication.verify_at <= v_now AND publication.acked_seq = publication.desired_seq
            AND publication.closed_code IS NULL AND NOT publication.leased
        ORDER BY publication.verify_at, publication.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), looked AS (
        UPDATE publications AS publication SET verify_at = v_now + make_interval(secs => p_lease_seconds)
        FROM due WHERE publication.id = due.id RETURNING publication.*
    )
    SELECT looked.id, looked.desired_seq, looked.check_run_id::bigint, looked.installation_id, repository.owner,
           repository.name, looked.external_id, looked.release_run_id, looked.ordinal::integer, looked.payload
    FROM looked JOIN repositories AS repository ON repository.id = looked.repository_id ORDER BY looked.id;
END
$$;


ALTER FUNCTION public.boardreadyops_claim_verifications(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_close_ref(bigint, bigint, text, integer, text, text, text, boolean, timestamp with time zone, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_close_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamp with time zone, p_confirmed_observation bigint DEFAULT NULL::bigint, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(close_outcome text, cancelled_run_ids uuid[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_close_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_defer_outbox(bigint, bigint, text, integer, timestamp with time zone, boolean); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_defer_outbox(p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone, p_sent boolean DEFAULT true) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_defer_outbox(p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_defer_publication(bigint, bigint, text, text, integer, timestamp with time zone, boolean); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_defer_publication(p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone, p_sent boolean DEFAULT true) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    IF COALESCE(p_error_class NOT IN ('gone', 'denied', 'rate_limited', 'transient', 'uncertain'), true) THEN
        RETURN 'invalid';
    END IF;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_publication.generation IS DISTINCT FROM p_generation OR NOT v_publication.leased THEN
        RETURN 'stale';
    END IF;

    UPDATE publications SET
        last_error = left(p_error, 500),
        send_count = CASE WHEN p_sent THEN send_count ELSE GREATEST(send_count - 1, 0) END,
        doubtful = doubtful OR p_error_class = 'uncertain',
        leased = p_error_class = 'uncertain',
        claimed_until = CASE WHEN p_error_class = 'uncertain' THEN v_now END,
        available_at = v_now + make_interval(secs => p_delay_seconds),
        closed_code = CASE WHEN p_error_class = 'gone' THEN 'gone' END
    WHERE id = p_publication_id;
    RETURN 'applied';
END
$$;


ALTER FUNCTION public.boardreadyops_defer_publication(p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_due_at(bigint, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_due_at(p_installation_id bigint, p_status text, p_approval text, p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
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


ALTER FUNCTION public.boardreadyops_due_at(p_installation_id bigint, p_status text, p_approval text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_end_release_run(public.release_runs, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_end_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_end_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_enqueue_pushed_ref(bigint, bigint, text, text, text, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_enqueue_pushed_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_before text, p_commit_sha text, p_confirmed_observation bigint DEFAULT NULL::bigint, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(enqueue_outcome text, release_run_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
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
$_$;


ALTER FUNCTION public.boardreadyops_enqueue_pushed_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_before text, p_commit_sha text, p_confirmed_observation bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_enqueue_release_run_with_outbox(bigint, bigint, text, integer, text, text, text, boolean, text, timestamp with time zone, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_enqueue_release_run_with_outbox(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_trust_mode text, p_observed_at timestamp with time zone, p_confirmed_observation bigint DEFAULT NULL::bigint, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(enqueue_outcome text, release_run_id uuid, confirm_requested boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_enqueue_release_run_with_outbox(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_trust_mode text, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_expire_runner_lease(uuid, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_expire_runner_lease(p_lease_id uuid, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_expire_runner_lease(p_lease_id uuid, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_expire_runner_leases(integer, uuid, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_expire_runner_leases(p_limit integer, p_only_lease_id uuid DEFAULT NULL::uuid, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(lease_id uuid, expiry_outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_expire_runner_leases(p_limit integer, p_only_lease_id uuid, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_give_back_run(public.release_runs, public.release_run_attempts, text, uuid, text, text, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_give_back_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_lease_id uuid, p_lease_state text, p_reason_code text, p_delay_seconds integer, p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_give_back_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_lease_id uuid, p_lease_state text, p_reason_code text, p_delay_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_give_up_workflow_dispatch(bigint, bigint, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_give_up_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_give_up_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_grant_grace(timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_grant_grace(p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_grant_grace(p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_heartbeat_runner_lease(uuid, text, integer, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_heartbeat_runner_lease(p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(lease_state text, directive text, reason text, expires_in_seconds integer, maximum_expires_in_seconds integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_heartbeat_runner_lease(p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_insert_release_run(uuid, public.refs, text, text, uuid, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_insert_release_run(p_id uuid, p_ref public.refs, p_commit_sha text, p_trust_mode text, p_superseded_by uuid, p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_insert_release_run(p_id uuid, p_ref public.refs, p_commit_sha text, p_trust_mode text, p_superseded_by uuid, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_issue_runner_enrollment(bigint, bigint[], text, bytea, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_issue_runner_enrollment(p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(enrollment_outcome text, expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_issue_runner_enrollment(p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_lease_holds(public.release_runs, public.release_run_attempts, public.runner_leases); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_lease_holds(p_run public.release_runs, p_attempt public.release_run_attempts, p_lease public.runner_leases) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT (p_run.execution_attempt_id, p_run.status, p_run.version, p_attempt.status, p_attempt.version)
        IS NOT DISTINCT FROM (p_attempt.id, p_lease.expected_run_status, p_lease.expected_run_version,
                              p_lease.expected_attempt_status, p_lease.expected_attempt_version)
$$;


ALTER FUNCTION public.boardreadyops_lease_holds(p_run public.release_runs, p_attempt public.release_run_attempts, p_lease public.runner_leases) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_list_due(text, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
BEGIN
    IF p_sweep = 'deadlines' THEN
        RETURN QUERY SELECT id FROM release_runs WHERE due_at <= v_now ORDER BY due_at LIMIT p_limit;
    ELSIF p_sweep = 'leases' THEN
        RETURN QUERY SELECT id FROM runner_leases WHERE state = 'active' AND next_check_at <= v_now
            ORDER BY next_check_at LIMIT p_limit;
    END IF;
END
$$;


ALTER FUNCTION public.boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_lock_tenant(bigint, bigint); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_lock_tenant(p_installation_id bigint, p_repository_id bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_lock_tenant(p_installation_id bigint, p_repository_id bigint) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_move_execution_attempt(public.release_run_attempts, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_move_execution_attempt(p_attempt public.release_run_attempts, p_next_status text, p_reason_code text, p_now timestamp with time zone) RETURNS public.release_run_attempts
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_move_execution_attempt(p_attempt public.release_run_attempts, p_next_status text, p_reason_code text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_move_release_run(public.release_runs, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_move_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_move_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: runner_registrations; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.runner_registrations (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    installation_id bigint,
    repository_ids bigint[],
    name text NOT NULL,
    runner_version text NOT NULL,
    token_digest public.digest NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT managed_runners_serve_all CHECK (((installation_id IS NOT NULL) OR (repository_ids IS NULL))),
    CONSTRAINT runner_registrations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT runner_registrations_repository_ids_check CHECK (((cardinality(repository_ids) >= 1) AND (cardinality(repository_ids) <= 1000))),
    CONSTRAINT runner_registrations_runner_version_check CHECK ((length(runner_version) <= 100))
);


ALTER TABLE public.runner_registrations OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_next_claimable_run(public.runner_registrations, text[], timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_next_claimable_run(p_registration public.runner_registrations, p_capabilities text[], p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_next_claimable_run(p_registration public.runner_registrations, p_capabilities text[], p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_note_claim_walk(bigint, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_note_claim_walk(p_installation_id bigint, p_walked bigint, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_note_claim_walk(p_installation_id bigint, p_walked bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_oldest_claimable_run(public.runner_registrations, bigint, text[], timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_oldest_claimable_run(p_registration public.runner_registrations, p_installation_id bigint, p_capabilities text[], p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_oldest_claimable_run(p_registration public.runner_registrations, p_installation_id bigint, p_capabilities text[], p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_open_head_run(public.refs, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_open_head_run(p_ref public.refs, p_now timestamp with time zone) RETURNS TABLE(enqueue_outcome text, release_run_id uuid)
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_open_head_run(p_ref public.refs, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: publications; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.publications (
    id bigint NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL,
    retry_id uuid NOT NULL,
    retry_number integer NOT NULL,
    ordinal public.counter DEFAULT 0 NOT NULL,
    commit_sha text NOT NULL,
    check_name public.check_name NOT NULL,
    external_id text NOT NULL,
    payload jsonb NOT NULL,
    desired_seq bigint DEFAULT 1 NOT NULL,
    acked_seq bigint DEFAULT 0 NOT NULL,
    generation bigint DEFAULT 0 NOT NULL,
    leased boolean DEFAULT false NOT NULL,
    claimed_until timestamp with time zone,
    doubtful boolean DEFAULT false NOT NULL,
    doubtful_until timestamp with time zone,
    verify_at timestamp with time zone,
    check_run_id public.github_id,
    available_at timestamp with time zone NOT NULL,
    send_count integer DEFAULT 0 NOT NULL,
    last_error public.last_error,
    closed_code text,
    created_at timestamp with time zone NOT NULL,
    acked_at timestamp with time zone,
    CONSTRAINT never_acked_beyond_desired CHECK (((acked_seq <= desired_seq) AND (desired_seq > 0)))
);


ALTER TABLE public.publications OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_open_next_ordinal(public.publications, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_open_next_ordinal(p_publication public.publications, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO publications (installation_id, repository_id, release_run_id, retry_id, retry_number, ordinal, commit_sha,
                              check_name, external_id, payload, available_at, created_at)
    VALUES (p_publication.installation_id, p_publication.repository_id, p_publication.release_run_id,
            p_publication.retry_id, p_publication.retry_number, p_publication.ordinal + 1, p_publication.commit_sha,
            p_publication.check_name,
            p_publication.release_run_id || ':' || p_publication.retry_number || ':' || p_publication.ordinal + 1,
            p_publication.payload, p_now, p_now)
    ON CONFLICT (release_run_id, retry_number, ordinal) DO NOTHING
$$;


ALTER FUNCTION public.boardreadyops_open_next_ordinal(p_publication public.publications, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_open_publication(public.release_runs, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_open_publication(p_run public.release_runs, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO publications (installation_id, repository_id, release_run_id, retry_id, retry_number, commit_sha,
                              check_name, external_id, payload, available_at, created_at)
    VALUES (p_run.installation_id, p_run.repository_id, p_run.id, p_run.retry_id, p_run.retry_number, p_run.commit_sha,
            CASE WHEN p_run.ref ~ '^refs/(heads|tags)/' AND p_run.ref !~ '^refs/heads/gh-readonly-queue/'
                 THEN 'BoardReadyOps (' || left(regexp_replace(p_run.ref, '^refs/(heads|tags)/', ''), 180) || ')'
                 ELSE 'BoardReadyOps' END,
            p_run.id || ':' || p_run.retry_number || ':0',
            boardreadyops_publication_payload(p_run), p_now, p_now);
END
$$;


ALTER FUNCTION public.boardreadyops_open_publication(p_run public.release_runs, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_plan_attempt(public.release_runs, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_plan_attempt(p_run public.release_runs, p_now timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_plan_attempt(p_run public.release_runs, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_publication_payload(public.release_runs); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_publication_payload(p_run public.release_runs) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN jsonb_build_object(
        'status', p_run.status,
        'reason_code', p_run.reason_code,
        'decision', p_run.decision,
        'approval', p_run.approval,
        'cancelled_by', p_run.cancelled_by,
        'superseded_by', p_run.superseded_by,
        'execution_attempt_id', p_run.execution_attempt_id,
        'queued_at', p_run.queued_at,
        'finished_at', p_run.finished_at,
        'needs', p_run.needs,
        'stage', CASE WHEN p_run.status = 'running' THEN
            (SELECT lease.stage FROM runner_leases AS lease
             WHERE lease.execution_attempt_id = p_run.execution_attempt_id AND lease.state = 'active') END);
END
$$;


ALTER FUNCTION public.boardreadyops_publication_payload(p_run public.release_runs) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_raise_publication(public.release_runs); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_raise_publication(p_run public.release_runs) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE publications SET
        payload = boardreadyops_publication_payload(p_run),
        desired_seq = desired_seq + 1
    WHERE release_run_id = p_run.id AND retry_number = p_run.retry_number;
END
$$;


ALTER FUNCTION public.boardreadyops_raise_publication(p_run public.release_runs) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_reconcile_workflow_run(bigint, uuid, bigint, integer, text, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_reconcile_workflow_run(p_repository_id bigint, p_execution_attempt_id uuid, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_workflow_status text, p_grace_seconds integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_found release_run_attempts;
    v_run release_runs;
    v_attempt release_run_attempts;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_found FROM release_run_attempts WHERE repository_id = p_repository_id
        AND (workflow_run_id = p_workflow_run_id OR id = p_execution_attempt_id)
        ORDER BY workflow_run_id = p_workflow_run_id DESC NULLS LAST, workflow_run_attempt DESC LIMIT 1;
    IF p_workflow_run_attempt > 1 THEN
        PERFORM boardreadyops_lock_tenant(v_found.installation_id, p_repository_id);
        PERFORM FROM refs WHERE repository_id = p_repository_id
            AND ref = (SELECT run.ref FROM release_runs AS run WHERE run.id = v_found.release_run_id) FOR NO KEY UPDATE;
    END IF;
    SELECT * INTO v_run FROM release_runs
        WHERE id = v_found.release_run_id AND execution_backend = 'actions' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    SELECT * INTO STRICT v_attempt FROM release_run_attempts WHERE id = v_found.id FOR NO KEY UPDATE;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    IF v_attempt.workflow_run_id = p_workflow_run_id AND v_attempt.workflow_run_attempt > p_workflow_run_attempt THEN
        RETURN 'ended';
    END IF;
    IF v_attempt.workflow_run_id = p_workflow_run_id AND v_attempt.workflow_run_attempt < p_workflow_run_attempt THEN
        IF v_run.finished_at IS NULL AND v_run.execution_attempt_id <> v_attempt.id AND p_workflow_status <> 'completed' THEN
            PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now);
        END IF;
        RETURN boardreadyops_retry_on_github(v_run, p_workflow_run_id, p_workflow_run_attempt, v_now);
    END IF;
    IF boardreadyops_bind_workflow_run(v_run, v_attempt, p_workflow_run_id, p_workflow_run_attempt, v_now) = 'conflict' THEN
        RETURN 'conflict';
    END IF;
    IF v_attempt.finished_at IS NOT NULL OR v_run.execution_attempt_id IS DISTINCT FROM v_attempt.id THEN
        PERFORM boardreadyops_request_workflow_cancel(v_run, p_workflow_run_id, v_now) WHERE p_workflow_status <> 'completed'
            AND NOT EXISTS (SELECT FROM runner_results AS told WHERE told.execution_attempt_id = v_attempt.id);
        UPDATE reconciliation_findings SET settled_at = v_now, next_check_at = NULL WHERE release_run_id = v_run.id
            AND execution_attempt_id = v_attempt.id AND settled_at IS NULL;
        RETURN 'ended';
    END IF;
    IF p_workflow_status = 'completed' THEN
        RETURN boardreadyops_settle_silent_workflow(v_run, v_attempt, p_grace_seconds, v_now);
    END IF;
    IF p_workflow_status <> 'in_progress' OR v_attempt.status = 'queued' THEN
        RETURN 'existing';
    END IF;
    RETURN boardreadyops_advance_workflow(v_run, v_attempt, 'in_progress', v_now);
END
$$;


ALTER FUNCTION public.boardreadyops_reconcile_workflow_run(p_repository_id bigint, p_execution_attempt_id uuid, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_workflow_status text, p_grace_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_record_check_run(bigint, bigint, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_record_check_run(p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_publication publications;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs
        WHERE id = (SELECT release_run_id FROM publications WHERE id = p_publication_id) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF v_run.execution_backend = 'actions' THEN
        SELECT * INTO v_attempt FROM release_run_attempts WHERE id = v_run.execution_attempt_id FOR NO KEY UPDATE;
    END IF;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF v_publication.generation IS DISTINCT FROM p_generation OR NOT v_publication.leased
        OR v_publication.check_run_id <> p_check_run_id THEN
        RETURN 'stale';
    END IF;

    UPDATE publications SET check_run_id = p_check_run_id WHERE id = p_publication_id;
    IF v_attempt.status = 'queued' AND v_publication.retry_id = v_run.retry_id THEN
        v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
        v_attempt := boardreadyops_move_execution_attempt(v_attempt, 'dispatching', 'check_run_created', v_now);
        PERFORM boardreadyops_request_dispatch(v_run, v_attempt, v_now);
    END IF;
    RETURN 'applied';
END
$$;


ALTER FUNCTION public.boardreadyops_record_check_run(p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_record_runner_result(uuid, uuid, uuid, uuid, bytea, text, text, text, integer, integer, jsonb, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_record_runner_result(p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea, p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(result_outcome text, audit_id bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_accepted_digest bytea;
    v_refusal text;
    v_reason text;
    v_now timestamptz;
BEGIN
    SELECT * INTO v_run FROM release_runs WHERE id = p_release_run_id FOR NO KEY UPDATE;
    SELECT * INTO v_attempt FROM release_run_attempts
        WHERE id = p_execution_attempt_id AND release_run_id = p_release_run_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::bigint;
        RETURN;
    END IF;
    IF COALESCE((p_status, p_decision) NOT IN (('completed', 'pass'), ('completed', 'fail'), ('failed', 'error'),
                                               ('timed_out', 'error')), true) THEN
        RETURN QUERY SELECT 'invalid_transition'::text, NULL::bigint;
        RETURN;
    END IF;
    v_now := GREATEST(COALESCE(p_now, clock_timestamp()), v_run.updated_at, v_attempt.updated_at);
    SELECT body_sha256 INTO v_accepted_digest FROM runner_results WHERE execution_attempt_id = v_attempt.id;
    v_refusal := CASE
        WHEN v_accepted_digest = p_body_sha256 THEN 'replayed'
        WHEN v_accepted_digest IS NOT NULL THEN 'conflict'
        WHEN v_run.execution_attempt_id IS DISTINCT FROM v_attempt.id OR v_run.retry_id IS DISTINCT FROM p_retry_id
            OR v_attempt.status = 'queued' OR (v_attempt.finished_at IS NOT NULL AND NOT v_attempt.inferred) THEN 'late' END;
    IF v_refusal IS NOT NULL THEN
        RETURN QUERY SELECT v_refusal, boardreadyops_audit_runner_result(
            v_attempt, p_registration_id, v_refusal, p_body_sha256, p_status, p_decision, v_now);
        RETURN;
    END IF;

    INSERT INTO runner_results (execution_attempt_id, installation_id, release_run_id, retry_id, body_sha256, status,
                                decision, summary, error_count, warning_count, details, received_at)
    VALUES (v_attempt.id, v_run.installation_id, v_run.id, p_retry_id, p_body_sha256, p_status, p_decision, p_summary,
            p_error_count, p_warning_count, p_details, v_now);
    v_reason := CASE WHEN v_attempt.inferred THEN 'runner_result_corrected' ELSE 'runner_result_' || p_status END;
    v_attempt.inferred := false;
    v_attempt := boardreadyops_move_execution_attempt(v_attempt, p_status, v_reason, v_now);
    v_run.decision := p_decision;
    v_run := boardreadyops_move_release_run(v_run, p_status, v_reason, v_now);
    PERFORM boardreadyops_settle_lease(v_run, v_attempt);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'accepted'::text, NULL::bigint;
END
$$;


ALTER FUNCTION public.boardreadyops_record_runner_result(p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea, p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_record_verification(bigint, bigint, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_record_verification(p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    PERFORM FROM release_runs
        WHERE id = (SELECT release_run_id FROM publications WHERE id = p_publication_id) FOR SHARE;
    SELECT * INTO v_publication FROM publications WHERE id = p_publication_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'not_found';
    END IF;
    IF COALESCE(p_finding NOT IN ('same', 'different', 'frozen', 'gone'), true) THEN
        RETURN 'invalid';
    END IF;
    IF v_publication.desired_seq IS DISTINCT FROM p_seq OR v_publication.closed_code IS NOT NULL THEN
        RETURN 'stale';
    END IF;

    UPDATE publications SET
        verify_at = NULL,
        desired_seq = desired_seq + CASE p_finding WHEN 'different' THEN 1 ELSE 0 END,
        closed_code = CASE p_finding WHEN 'gone' THEN 'gone' WHEN 'frozen' THEN 'frozen' END
    WHERE id = p_publication_id;
    IF p_finding IN ('frozen', 'gone') THEN
        PERFORM boardreadyops_open_next_ordinal(v_publication, v_now);
    END IF;
    RETURN 'applied';
END
$$;


ALTER FUNCTION public.boardreadyops_record_verification(p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_refuse_event_change(); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_refuse_event_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'release_run_transition_events is append-only'
        USING ERRCODE = 'insufficient_privilege', HINT = 'Append a new transition; history is never rewritten.';
END
$$;


ALTER FUNCTION public.boardreadyops_refuse_event_change() OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_register_runner(bytea, bytea, text, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_register_runner(p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(registration_outcome text, registration_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_register_runner(p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_relinquish_runner_lease(uuid, text, text, text[], timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_relinquish_runner_lease(p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_relinquish_runner_lease(p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_replace_silent_dispatch(public.release_runs, public.release_run_attempts, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_replace_silent_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone) RETURNS public.release_runs
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_replace_silent_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_republish_worst(public.publications, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_republish_worst(p_landed public.publications, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_worst publications;
BEGIN
    SELECT newest.* INTO v_worst
    FROM refs
    JOIN release_runs AS run ON run.id = refs.release_run_id
    JOIN publications AS newest ON newest.release_run_id = run.id AND newest.retry_number = run.retry_number
    WHERE refs.repository_id = p_landed.repository_id AND refs.head_sha = p_landed.commit_sha AND refs.open
        AND newest.check_name = p_landed.check_name AND run.status NOT IN ('cancelled', 'superseded')
    ORDER BY CASE
        WHEN run.decision = 'pass' THEN 2
        WHEN run.finished_at IS NULL THEN 1
        ELSE 0 END, newest.release_run_id, newest.ordinal DESC
    LIMIT 1;
    IF v_worst.check_run_id < p_landed.check_run_id THEN
        -- A repeatable read that knows only this row must fail, not raise it and leave the new one behind.
        UPDATE publications SET available_at = available_at WHERE id = v_worst.id;
        PERFORM boardreadyops_open_next_ordinal(v_worst, p_now);
    END IF;
END
$$;


ALTER FUNCTION public.boardreadyops_republish_worst(p_landed public.publications, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_request_confirm(public.refs, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_request_confirm(p_ref public.refs, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, available_at, created_at)
    VALUES (CASE WHEN p_ref.pull_request_number IS NULL THEN 'confirm_ref' ELSE 'confirm_pull_request' END, p_ref.installation_id, p_ref.repository_id, p_ref.ref, p_ref.pull_request_number,
            p_now, p_now)
    ON CONFLICT (repository_id, ref) WHERE kind IN ('confirm_pull_request', 'confirm_ref') AND settled_at IS NULL DO NOTHING
$$;


ALTER FUNCTION public.boardreadyops_request_confirm(p_ref public.refs, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_request_dispatch(public.release_runs, public.release_run_attempts, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_request_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, release_run_id,
                        execution_attempt_id, available_at, created_at)
    SELECT 'workflow_dispatch', p_run.installation_id, p_run.repository_id, p_run.ref, p_run.pull_request_number,
           p_run.id, p_attempt.id, p_now, p_now
    WHERE p_attempt.status = 'dispatching' AND p_run.approval <> 'waiting'
    ON CONFLICT (execution_attempt_id) WHERE kind = 'workflow_dispatch' DO NOTHING
$$;


ALTER FUNCTION public.boardreadyops_request_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_request_workflow_cancel(public.release_runs, bigint, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_request_workflow_cancel(p_run public.release_runs, p_workflow_run_id bigint, p_now timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, release_run_id, workflow_run_id,
                        available_at, created_at)
    SELECT 'workflow_cancel', p_run.installation_id, p_run.repository_id, p_run.ref, p_run.pull_request_number,
           p_run.id, p_workflow_run_id, p_now, p_now
    WHERE p_workflow_run_id IS NOT NULL
    ON CONFLICT (repository_id, workflow_run_id) WHERE kind = 'workflow_cancel' AND settled_at IS NULL DO NOTHING
$$;


ALTER FUNCTION public.boardreadyops_request_workflow_cancel(p_run public.release_runs, p_workflow_run_id bigint, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_resume_installation(bigint, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_resume_installation(p_installation_id bigint, p_limit integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_resume_installation(p_installation_id bigint, p_limit integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_retry_on_github(public.release_runs, bigint, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_retry_on_github(p_run public.release_runs, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_run release_runs;
BEGIN
    IF p_run.finished_at IS NULL THEN
        RETURN 'existing';
    END IF;
    IF boardreadyops_lock_tenant(p_run.installation_id, p_run.repository_id) IS NOT TRUE
        OR NOT EXISTS (SELECT FROM refs WHERE repository_id = p_run.repository_id AND ref = p_run.ref AND open
            AND head_sha = p_run.commit_sha) THEN
        PERFORM boardreadyops_request_workflow_cancel(p_run, p_workflow_run_id, p_now);
        RETURN 'ended';
    END IF;

    v_run := boardreadyops_ask_again(p_run, 'retry_requested', p_now);
    -- The head's run it is already; written, so that a repeatable read that opens another run fails instead.
    UPDATE refs SET release_run_id = p_run.id WHERE repository_id = p_run.repository_id AND ref = p_run.ref;
    UPDATE release_run_attempts SET status = 'in_progress', workflow_run_id = p_workflow_run_id,
        workflow_run_attempt = p_workflow_run_attempt WHERE id = v_run.execution_attempt_id;
    v_run := boardreadyops_move_release_run(v_run, 'running', 'workflow_reconciled', p_now);
    -- Owed since its earlier attempt ended, and not sent: it would end this one.
    UPDATE outbox SET settled_at = p_now, outcome_code = 'retried', claimed_until = NULL
        WHERE repository_id = p_run.repository_id AND workflow_run_id = p_workflow_run_id
            AND kind = 'workflow_cancel' AND settled_at IS NULL;
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN 'retried';
END
$$;


ALTER FUNCTION public.boardreadyops_retry_on_github(p_run public.release_runs, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_retry_release_run(bigint, uuid, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_retry_release_run(p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(retry_outcome text, retry_id uuid, retry_number integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_run release_runs;
    v_ref refs;
    v_outcome text;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run WHERE run.id = p_release_run_id;
    IF boardreadyops_lock_tenant(p_installation_id, v_run.repository_id) IS NOT TRUE THEN
        RETURN QUERY SELECT 'not_found'::text, NULL::uuid, NULL::integer;
        RETURN;
    END IF;
    SELECT * INTO v_ref FROM refs WHERE repository_id = v_run.repository_id AND ref = v_run.ref FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_run FROM release_runs AS run WHERE run.id = p_release_run_id FOR NO KEY UPDATE;
    v_outcome := CASE
        WHEN v_run.retry_number = p_expected_retry_number + 1 THEN 'existing'
        WHEN v_run.retry_number IS DISTINCT FROM p_expected_retry_number THEN 'stale'
        WHEN v_ref.open IS NOT TRUE OR v_ref.head_sha <> v_run.commit_sha THEN 'superseded'
        WHEN v_run.finished_at IS NULL THEN 'not_terminal'
        ELSE 'created' END;
    IF v_outcome = 'created' THEN
        v_run := boardreadyops_ask_again(v_run, 'retry_requested', COALESCE(p_now, clock_timestamp()));
        -- The head's run it is already; written, so that a repeatable read that opens another run fails instead.
        UPDATE refs SET release_run_id = v_run.id WHERE repository_id = v_run.repository_id AND ref = v_run.ref;
    END IF;
    RETURN QUERY SELECT v_outcome, v_run.retry_id, v_run.retry_number::integer;
END
$$;


ALTER FUNCTION public.boardreadyops_retry_release_run(p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_revoke_runner(uuid, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_rotate_runner_token(uuid, bytea); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_settle_lease(public.release_runs, public.release_run_attempts); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_settle_lease(p_run public.release_runs, p_attempt public.release_run_attempts) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


ALTER FUNCTION public.boardreadyops_settle_lease(p_run public.release_runs, p_attempt public.release_run_attempts) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_settle_outbox(bigint, bigint, text, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_settle_outbox(p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_settle_outbox(p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_settle_silent_workflow(public.release_runs, public.release_run_attempts, integer, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_settle_silent_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_grace_seconds integer, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    v_attempt release_run_attempts := p_attempt;
    v_finding reconciliation_findings;
BEGIN
    SELECT * INTO v_finding FROM reconciliation_findings WHERE release_run_id = p_run.id
        AND execution_attempt_id = p_attempt.id AND outcome_code = 'workflow_ended_without_result'
        AND settled_at IS NULL;
    IF NOT FOUND THEN
        INSERT INTO reconciliation_findings (installation_id, repository_id, release_run_id, execution_attempt_id,
                                             outcome_code, found_at, next_check_at)
        VALUES (p_run.installation_id, p_run.repository_id, p_run.id, p_attempt.id, 'workflow_ended_without_result',
                p_now, p_now + make_interval(secs => p_grace_seconds));
        RETURN 'waiting';
    END IF;
    IF v_finding.next_check_at > p_now THEN
        RETURN 'waiting';
    END IF;

    UPDATE reconciliation_findings SET settled_at = p_now, next_check_at = NULL WHERE id = v_finding.id;
    -- The attempt ends before its run, so that no workflow run is cancelled: this one is over, or made to run again by now.
    v_attempt.inferred := true;
    PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'workflow_reconciled', p_now);
    PERFORM boardreadyops_end_release_run(p_run, 'failed', 'workflow_reconciled', p_now);
    RETURN 'applied';
END
$$;


ALTER FUNCTION public.boardreadyops_settle_silent_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_grace_seconds integer, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_sweep_deadlines(integer, uuid, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_sweep_deadlines(p_limit integer, p_only_run_id uuid DEFAULT NULL::uuid, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(release_run_id uuid, reason_code text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_run release_runs;
    v_reason text;
BEGIN
    FOR v_run IN SELECT * FROM release_runs AS run
        WHERE run.due_at <= v_now AND (p_only_run_id IS NULL OR run.id = p_only_run_id)
        ORDER BY run.due_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        v_reason := CASE
            WHEN v_run.status = 'queued' AND v_run.approval = 'waiting' THEN 'approval_deadline_exceeded'
            WHEN v_run.status = 'queued' THEN 'queue_deadline_exceeded'
            WHEN v_run.status = 'dispatched' THEN 'start_deadline_exceeded'
            ELSE 'run_deadline_exceeded' END;
        UPDATE release_run_attempts SET inferred = true
            WHERE id = v_run.execution_attempt_id AND finished_at IS NULL AND v_run.status IN ('dispatched', 'running');
        PERFORM boardreadyops_end_release_run(v_run, 'timed_out', v_reason, v_now);
        release_run_id := v_run.id;
        reason_code := v_reason;
        RETURN NEXT;
    END LOOP;
END
$$;


ALTER FUNCTION public.boardreadyops_sweep_deadlines(p_limit integer, p_only_run_id uuid, p_now timestamp with time zone) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_sweep_levels(integer, timestamp with time zone, integer); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_sweep_levels(p_limit integer, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone, p_skip integer DEFAULT 0) RETURNS TABLE(release_run_id uuid, level_outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_sweep_levels(p_limit integer, p_now timestamp with time zone, p_skip integer) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_tenant_visible(bigint); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_tenant_visible(p_installation_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT COALESCE(current_setting('boardreadyops.installation_ids', true) = '*'
        OR p_installation_id = ANY (
            string_to_array(NULLIF(current_setting('boardreadyops.installation_ids', true), ''), ',')::bigint[]), false)
$$;


ALTER FUNCTION public.boardreadyops_tenant_visible(p_installation_id bigint) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_transition_allowed(public.release_runs, public.release_run_attempts, text, text, text); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_transition_allowed(p_run public.release_runs, p_attempt public.release_run_attempts, p_next_run_status text, p_next_attempt_status text, p_reason_code text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $_$
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
$_$;


ALTER FUNCTION public.boardreadyops_transition_allowed(p_run public.release_runs, p_attempt public.release_run_attempts, p_next_run_status text, p_next_attempt_status text, p_reason_code text) OWNER TO boardreadyops_owner;

--
-- Name: boardreadyops_transition_release_run_state(uuid, text, bigint, uuid, text, text, timestamp with time zone, text, bigint, text); Type: FUNCTION; Schema: public; Owner: boardreadyops_owner
--

CREATE FUNCTION public.boardreadyops_transition_release_run_state(p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint, p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text, p_now timestamp with time zone DEFAULT NULL::timestamp with time zone, p_expected_attempt_status text DEFAULT NULL::text, p_expected_attempt_version bigint DEFAULT NULL::bigint, p_next_attempt_status text DEFAULT NULL::text) RETURNS TABLE(transition_outcome text, run_status text, run_version bigint, attempt_status text, attempt_version bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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


ALTER FUNCTION public.boardreadyops_transition_release_run_state(p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint, p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text, p_now timestamp with time zone, p_expected_attempt_status text, p_expected_attempt_version bigint, p_next_attempt_status text) OWNER TO boardreadyops_owner;

--
-- Name: claim_marks; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.claim_marks (
    installation_id bigint NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    rescan_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');


ALTER TABLE public.claim_marks OWNER TO boardreadyops_owner;

--
-- Name: claim_turn; Type: SEQUENCE; Schema: public; Owner: boardreadyops_owner
--

CREATE SEQUENCE public.claim_turn
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;


ALTER SEQUENCE public.claim_turn OWNER TO boardreadyops_owner;

--
-- Name: deployment_settings; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.deployment_settings (
    singleton boolean DEFAULT true NOT NULL,
    approval_timeout_seconds integer DEFAULT 604800 NOT NULL,
    queue_timeout_seconds integer DEFAULT 21600 NOT NULL,
    start_timeout_seconds integer DEFAULT 1800 NOT NULL,
    run_timeout_seconds integer DEFAULT 5400 NOT NULL,
    lease_seconds integer DEFAULT 120 NOT NULL,
    max_execution_attempts integer DEFAULT 3 NOT NULL,
    CONSTRAINT deployment_settings_approval_timeout_seconds_check CHECK ((approval_timeout_seconds > 0)),
    CONSTRAINT deployment_settings_lease_seconds_check CHECK ((lease_seconds >= 3)),
    CONSTRAINT deployment_settings_max_execution_attempts_check CHECK (((max_execution_attempts >= 1) AND (max_execution_attempts <= 20))),
    CONSTRAINT deployment_settings_queue_timeout_seconds_check CHECK ((queue_timeout_seconds > 0)),
    CONSTRAINT deployment_settings_run_timeout_seconds_check CHECK ((run_timeout_seconds > 0)),
    CONSTRAINT deployment_settings_singleton_check CHECK (singleton),
    CONSTRAINT deployment_settings_start_timeout_seconds_check CHECK ((start_timeout_seconds > 0))
);


ALTER TABLE public.deployment_settings OWNER TO boardreadyops_owner;

--
-- Name: installations; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.installations (
    id public.github_id NOT NULL,
    account_login text NOT NULL,
    account_id bigint,
    suspended boolean DEFAULT false NOT NULL,
    removed boolean DEFAULT false NOT NULL,
    observed_at timestamp with time zone,
    execution_backend public.execution_backend,
    fork_policy text DEFAULT 'approve'::text NOT NULL,
    approval_timeout_seconds integer,
    queue_timeout_seconds integer,
    start_timeout_seconds integer,
    run_timeout_seconds integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT installations_account_login_check CHECK (((length(account_login) >= 1) AND (length(account_login) <= 100))),
    CONSTRAINT installations_approval_timeout_seconds_check CHECK ((approval_timeout_seconds > 0)),
    CONSTRAINT installations_fork_policy_check CHECK ((fork_policy = ANY (ARRAY['run'::text, 'approve'::text, 'skip'::text]))),
    CONSTRAINT installations_queue_timeout_seconds_check CHECK ((queue_timeout_seconds > 0)),
    CONSTRAINT installations_run_timeout_seconds_check CHECK ((run_timeout_seconds > 0)),
    CONSTRAINT installations_start_timeout_seconds_check CHECK ((start_timeout_seconds > 0))
);


ALTER TABLE public.installations OWNER TO boardreadyops_owner;

--
-- Name: lifecycle_edges; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.lifecycle_edges (
    entity_type public.entity_type NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL
);


ALTER TABLE public.lifecycle_edges OWNER TO boardreadyops_owner;

--
-- Name: outbox; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.outbox (
    id bigint NOT NULL,
    kind public.effect_kind NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    ref text NOT NULL,
    pull_request_number integer,
    release_run_id uuid,
    execution_attempt_id uuid,
    workflow_run_id public.github_id,
    started_at timestamp with time zone,
    generation bigint DEFAULT 0 NOT NULL,
    claimed_until timestamp with time zone,
    available_at timestamp with time zone NOT NULL,
    send_count integer DEFAULT 0 NOT NULL,
    last_error public.last_error,
    outcome_code text,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone
);


ALTER TABLE public.outbox OWNER TO boardreadyops_owner;

--
-- Name: outbox_id_seq; Type: SEQUENCE; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: page_attempts; Type: VIEW; Schema: public; Owner: boardreadyops_owner
--

CREATE VIEW public.page_attempts WITH (security_invoker='true') AS
 SELECT attempt.id,
    attempt.release_run_id,
    attempt.number,
    attempt.retry_id,
    attempt.status,
    attempt.version,
    attempt.inferred,
    attempt.created_at,
    attempt.updated_at,
    attempt.finished_at,
    lease.id AS lease_id,
    lease.state AS lease_state,
    lease.stage,
    lease.progress,
    lease.message,
    lease.heartbeat_at,
    lease.expires_at,
    registration.name AS runner_name
   FROM ((public.release_run_attempts attempt
     LEFT JOIN public.runner_leases lease ON ((lease.execution_attempt_id = attempt.id)))
     LEFT JOIN public.runner_registrations registration ON ((registration.id = lease.registration_id)));


ALTER VIEW public.page_attempts OWNER TO boardreadyops_owner;

--
-- Name: page_publications; Type: VIEW; Schema: public; Owner: boardreadyops_owner
--

CREATE VIEW public.page_publications WITH (security_invoker='true') AS
 SELECT release_run_id,
    retry_number,
    ordinal,
    check_name,
    check_run_id,
    desired_seq,
    acked_seq,
    doubtful,
    send_count,
    last_error,
    closed_code,
    available_at,
    acked_at,
    created_at
   FROM public.publications;


ALTER VIEW public.page_publications OWNER TO boardreadyops_owner;

--
-- Name: runner_results; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.runner_results (
    execution_attempt_id uuid NOT NULL,
    installation_id bigint NOT NULL,
    release_run_id uuid NOT NULL,
    retry_id uuid NOT NULL,
    body_sha256 public.digest NOT NULL,
    status text NOT NULL,
    decision public.decision NOT NULL,
    summary text NOT NULL,
    error_count public.counter NOT NULL,
    warning_count public.counter NOT NULL,
    details jsonb NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT runner_results_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'timed_out'::text]))),
    CONSTRAINT runner_results_summary_check CHECK ((length(summary) <= 4000))
);


ALTER TABLE public.runner_results OWNER TO boardreadyops_owner;

--
-- Name: page_results; Type: VIEW; Schema: public; Owner: boardreadyops_owner
--

CREATE VIEW public.page_results WITH (security_invoker='true') AS
 SELECT execution_attempt_id,
    release_run_id,
    status,
    decision,
    summary,
    error_count,
    warning_count,
    details,
    received_at
   FROM public.runner_results;


ALTER VIEW public.page_results OWNER TO boardreadyops_owner;

--
-- Name: repositories; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.repositories (
    id public.github_id NOT NULL,
    installation_id bigint NOT NULL,
    owner text NOT NULL,
    name text NOT NULL,
    private boolean DEFAULT true NOT NULL,
    default_branch text,
    enabled boolean DEFAULT true NOT NULL,
    execution_backend public.execution_backend,
    observed_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT repositories_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT repositories_owner_check CHECK (((length(owner) >= 1) AND (length(owner) <= 100)))
);


ALTER TABLE public.repositories OWNER TO boardreadyops_owner;

--
-- Name: page_runs; Type: VIEW; Schema: public; Owner: boardreadyops_owner
--

CREATE VIEW public.page_runs WITH (security_invoker='true') AS
 SELECT run.id,
    run.installation_id,
    run.repository_id,
    repository.owner AS repository_owner,
    repository.name AS repository_name,
    run.ref,
    run.pull_request_number,
    run.commit_sha,
    run.base_sha,
    run.status,
    run.version,
    run.decision,
    run.reason_code,
    run.execution_attempt_id,
    run.execution_backend,
    run.trust_mode,
    run.approval,
    run.retry_id,
    run.retry_number,
    run.superseded_by,
    run.cancelled_by,
    run.due_at,
    run.created_at,
    run.queued_at,
    run.updated_at,
    run.finished_at,
    run.needs
   FROM (public.release_runs run
     JOIN public.repositories repository ON (((repository.id)::bigint = run.repository_id)));


ALTER VIEW public.page_runs OWNER TO boardreadyops_owner;

--
-- Name: page_transitions; Type: VIEW; Schema: public; Owner: boardreadyops_owner
--

CREATE VIEW public.page_transitions WITH (security_invoker='true') AS
 SELECT id,
    release_run_id,
    entity_type,
    execution_attempt_id,
    from_status,
    to_status,
    from_version,
    to_version,
    reason_code,
    occurred_at
   FROM public.release_run_transition_events;


ALTER VIEW public.page_transitions OWNER TO boardreadyops_owner;

--
-- Name: publications_id_seq; Type: SEQUENCE; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.publications ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.publications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: reconciliation_findings; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.reconciliation_findings (
    id bigint NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid,
    execution_attempt_id uuid,
    outcome_code public.reason_code NOT NULL,
    found_at timestamp with time zone NOT NULL,
    next_check_at timestamp with time zone,
    settled_at timestamp with time zone,
    CONSTRAINT unsettled_is_due CHECK (((settled_at IS NULL) = (next_check_at IS NOT NULL)))
);


ALTER TABLE public.reconciliation_findings OWNER TO boardreadyops_owner;

--
-- Name: reconciliation_findings_id_seq; Type: SEQUENCE; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.reconciliation_findings ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.reconciliation_findings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: release_run_transition_events_id_seq; Type: SEQUENCE; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.release_run_transition_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.release_run_transition_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: runner_enrollments; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.runner_enrollments (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    installation_id bigint,
    repository_ids bigint[],
    name text NOT NULL,
    token_digest public.digest NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    registration_id uuid,
    CONSTRAINT runner_enrollments_check CHECK ((expires_at <= (created_at + '01:00:00'::interval))),
    CONSTRAINT runner_enrollments_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT runner_enrollments_repository_ids_check CHECK (((cardinality(repository_ids) >= 1) AND (cardinality(repository_ids) <= 1000)))
);


ALTER TABLE public.runner_enrollments OWNER TO boardreadyops_owner;

--
-- Name: runner_result_audit; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.runner_result_audit (
    id bigint NOT NULL,
    installation_id bigint NOT NULL,
    release_run_id uuid NOT NULL,
    execution_attempt_id uuid NOT NULL,
    registration_id uuid,
    outcome text NOT NULL,
    body_sha256 public.digest NOT NULL,
    status text NOT NULL,
    decision text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT runner_result_audit_outcome_check CHECK ((outcome = ANY (ARRAY['late'::text, 'conflict'::text])))
);


ALTER TABLE public.runner_result_audit OWNER TO boardreadyops_owner;

--
-- Name: runner_result_audit_id_seq; Type: SEQUENCE; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.runner_result_audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.runner_result_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT schema_migrations_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT schema_migrations_version_check CHECK ((version > 0))
);


ALTER TABLE public.schema_migrations OWNER TO boardreadyops_owner;

--
-- Name: sweep_marks; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.sweep_marks (
    sweep text NOT NULL,
    swept_at timestamp with time zone NOT NULL,
    grace_until timestamp with time zone
);


ALTER TABLE public.sweep_marks OWNER TO boardreadyops_owner;

--
-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: boardreadyops_owner
--

CREATE TABLE public.webhook_deliveries (
    delivery_id text NOT NULL,
    event text NOT NULL,
    action text,
    installation_id bigint,
    body_sha256 public.digest NOT NULL,
    status text DEFAULT 'accepted'::text NOT NULL,
    reason text,
    actions jsonb DEFAULT '[]'::jsonb NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT webhook_deliveries_delivery_id_check CHECK (((length(delivery_id) >= 1) AND (length(delivery_id) <= 100))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['accepted'::text, 'ignored'::text])))
);


ALTER TABLE public.webhook_deliveries OWNER TO boardreadyops_owner;

--
-- Name: claim_marks claim_marks_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.claim_marks
    ADD CONSTRAINT claim_marks_pkey PRIMARY KEY (installation_id);


--
-- Name: deployment_settings deployment_settings_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.deployment_settings
    ADD CONSTRAINT deployment_settings_pkey PRIMARY KEY (singleton);


--
-- Name: installations installations_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_pkey PRIMARY KEY (id);


--
-- Name: lifecycle_edges lifecycle_edges_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.lifecycle_edges
    ADD CONSTRAINT lifecycle_edges_pkey PRIMARY KEY (entity_type, from_status, to_status);


--
-- Name: outbox outbox_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);


--
-- Name: publications publications_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_pkey PRIMARY KEY (id);


--
-- Name: publications publications_release_run_id_retry_number_ordinal_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_release_run_id_retry_number_ordinal_key UNIQUE (release_run_id, retry_number, ordinal);


--
-- Name: reconciliation_findings reconciliation_findings_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.reconciliation_findings
    ADD CONSTRAINT reconciliation_findings_pkey PRIMARY KEY (id);


--
-- Name: refs refs_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.refs
    ADD CONSTRAINT refs_pkey PRIMARY KEY (repository_id, ref);


--
-- Name: release_run_attempts release_run_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_run_attempts
    ADD CONSTRAINT release_run_attempts_pkey PRIMARY KEY (id);


--
-- Name: release_run_attempts release_run_attempts_release_run_id_number_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_run_attempts
    ADD CONSTRAINT release_run_attempts_release_run_id_number_key UNIQUE (release_run_id, number);


--
-- Name: release_run_transition_events release_run_transition_events_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_run_transition_events
    ADD CONSTRAINT release_run_transition_events_pkey PRIMARY KEY (id);


--
-- Name: release_runs release_runs_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_runs
    ADD CONSTRAINT release_runs_pkey PRIMARY KEY (id);


--
-- Name: release_runs release_runs_repository_id_ref_commit_sha_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_runs
    ADD CONSTRAINT release_runs_repository_id_ref_commit_sha_key UNIQUE (repository_id, ref, commit_sha);


--
-- Name: repositories repositories_id_installation_id_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT repositories_id_installation_id_key UNIQUE (id, installation_id);


--
-- Name: repositories repositories_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT repositories_pkey PRIMARY KEY (id);


--
-- Name: runner_enrollments runner_enrollments_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_enrollments
    ADD CONSTRAINT runner_enrollments_pkey PRIMARY KEY (id);


--
-- Name: runner_enrollments runner_enrollments_token_digest_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_enrollments
    ADD CONSTRAINT runner_enrollments_token_digest_key UNIQUE (token_digest);


--
-- Name: runner_leases runner_leases_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_leases
    ADD CONSTRAINT runner_leases_pkey PRIMARY KEY (id);


--
-- Name: runner_leases runner_leases_registration_id_request_id_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_leases
    ADD CONSTRAINT runner_leases_registration_id_request_id_key UNIQUE (registration_id, request_id);


--
-- Name: runner_registrations runner_registrations_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_registrations
    ADD CONSTRAINT runner_registrations_pkey PRIMARY KEY (id);


--
-- Name: runner_registrations runner_registrations_token_digest_key; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_registrations
    ADD CONSTRAINT runner_registrations_token_digest_key UNIQUE (token_digest);


--
-- Name: runner_result_audit runner_result_audit_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_result_audit
    ADD CONSTRAINT runner_result_audit_pkey PRIMARY KEY (id);


--
-- Name: runner_results runner_results_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_results
    ADD CONSTRAINT runner_results_pkey PRIMARY KEY (execution_attempt_id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: sweep_marks sweep_marks_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.sweep_marks
    ADD CONSTRAINT sweep_marks_pkey PRIMARY KEY (sweep);


--
-- Name: webhook_deliveries webhook_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (delivery_id);


--
-- Name: outbox_due; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX outbox_due ON public.outbox USING btree (available_at, id) WHERE (settled_at IS NULL);


--
-- Name: outbox_one_cancel_per_workflow_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX outbox_one_cancel_per_workflow_run ON public.outbox USING btree (repository_id, workflow_run_id) WHERE (((kind)::text = 'workflow_cancel'::text) AND (settled_at IS NULL));


--
-- Name: outbox_one_confirm_per_ref; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX outbox_one_confirm_per_ref ON public.outbox USING btree (repository_id, ref) WHERE (((kind)::text = ANY (ARRAY['confirm_pull_request'::text, 'confirm_ref'::text])) AND (settled_at IS NULL));


--
-- Name: outbox_one_dispatch_per_attempt; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX outbox_one_dispatch_per_attempt ON public.outbox USING btree (execution_attempt_id) WHERE ((kind)::text = 'workflow_dispatch'::text);


--
-- Name: publications_due; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX publications_due ON public.publications USING btree (available_at, id) WHERE ((acked_seq < desired_seq) AND (closed_code IS NULL));


--
-- Name: publications_leased; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX publications_leased ON public.publications USING btree (repository_id, commit_sha) WHERE leased;


--
-- Name: publications_to_verify; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX publications_to_verify ON public.publications USING btree (verify_at, id) WHERE ((verify_at IS NOT NULL) AND (closed_code IS NULL));


--
-- Name: reconciliation_findings_by_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX reconciliation_findings_by_run ON public.reconciliation_findings USING btree (release_run_id, id);


--
-- Name: reconciliation_findings_due; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX reconciliation_findings_due ON public.reconciliation_findings USING btree (next_check_at) WHERE (settled_at IS NULL);


--
-- Name: refs_by_head; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX refs_by_head ON public.refs USING btree (repository_id, head_sha) WHERE open;


--
-- Name: refs_by_installation; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX refs_by_installation ON public.refs USING btree (installation_id, repository_id, ref) WHERE open;


--
-- Name: refs_level_due; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX refs_level_due ON public.refs USING btree (level_due_at) WHERE (level_due_at IS NOT NULL);


--
-- Name: release_run_attempts_by_workflow_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX release_run_attempts_by_workflow_run ON public.release_run_attempts USING btree (repository_id, workflow_run_id, workflow_run_attempt) WHERE (workflow_run_id IS NOT NULL);


--
-- Name: release_run_transition_events_attempt_version; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX release_run_transition_events_attempt_version ON public.release_run_transition_events USING btree (execution_attempt_id, to_version) WHERE ((entity_type)::text = 'execution_attempt'::text);


--
-- Name: release_run_transition_events_by_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_run_transition_events_by_run ON public.release_run_transition_events USING btree (release_run_id, id);


--
-- Name: release_run_transition_events_run_version; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX release_run_transition_events_run_version ON public.release_run_transition_events USING btree (release_run_id, to_version) WHERE ((entity_type)::text = 'release_run'::text);


--
-- Name: release_runs_claimable; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_runs_claimable ON public.release_runs USING btree (installation_id, queued_at, id) WHERE (((status)::text = 'queued'::text) AND ((execution_backend)::text = 'runner'::text) AND ((approval)::text <> 'waiting'::text) AND (superseded_by IS NULL));


--
-- Name: release_runs_claimable_with_needs; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_runs_claimable_with_needs ON public.release_runs USING btree (installation_id, queued_at) WHERE (((status)::text = 'queued'::text) AND ((execution_backend)::text = 'runner'::text) AND ((approval)::text <> 'waiting'::text) AND (superseded_by IS NULL) AND ((needs)::text[] <> '{}'::text[]));


--
-- Name: release_runs_due; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_runs_due ON public.release_runs USING btree (due_at) WHERE (due_at IS NOT NULL);


--
-- Name: release_runs_newest; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_runs_newest ON public.release_runs USING btree (created_at DESC, id DESC);


--
-- Name: release_runs_newest_claimable; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_runs_newest_claimable ON public.release_runs USING btree (queued_at DESC, id DESC) WHERE (((status)::text = 'queued'::text) AND ((execution_backend)::text = 'runner'::text) AND ((approval)::text <> 'waiting'::text) AND (superseded_by IS NULL));


--
-- Name: release_runs_one_open_per_ref; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX release_runs_one_open_per_ref ON public.release_runs USING btree (repository_id, ref) WHERE (((status)::text = ANY (ARRAY['queued'::text, 'dispatched'::text, 'running'::text])) AND (superseded_by IS NULL));


--
-- Name: release_runs_open_by_installation; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX release_runs_open_by_installation ON public.release_runs USING btree (installation_id, id) WHERE ((status)::text = ANY (ARRAY['queued'::text, 'dispatched'::text, 'running'::text]));


--
-- Name: repositories_by_installation; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX repositories_by_installation ON public.repositories USING btree (installation_id);


--
-- Name: runner_leases_by_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX runner_leases_by_run ON public.runner_leases USING btree (release_run_id);


--
-- Name: runner_leases_due; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX runner_leases_due ON public.runner_leases USING btree (next_check_at) WHERE (((state)::text = 'active'::text) AND (next_check_at IS NOT NULL));


--
-- Name: runner_leases_one_active_per_attempt; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE UNIQUE INDEX runner_leases_one_active_per_attempt ON public.runner_leases USING btree (execution_attempt_id) WHERE ((state)::text = 'active'::text);


--
-- Name: runner_result_audit_by_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX runner_result_audit_by_run ON public.runner_result_audit USING btree (release_run_id, id);


--
-- Name: runner_results_by_run; Type: INDEX; Schema: public; Owner: boardreadyops_owner
--

CREATE INDEX runner_results_by_run ON public.runner_results USING btree (release_run_id);


--
-- Name: release_run_transition_events append_only; Type: TRIGGER; Schema: public; Owner: boardreadyops_owner
--

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.release_run_transition_events FOR EACH ROW EXECUTE FUNCTION public.boardreadyops_refuse_event_change();


--
-- Name: release_run_transition_events append_only_truncate; Type: TRIGGER; Schema: public; Owner: boardreadyops_owner
--

CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.release_run_transition_events FOR EACH STATEMENT EXECUTE FUNCTION public.boardreadyops_refuse_event_change();


--
-- Name: claim_marks claim_marks_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.claim_marks
    ADD CONSTRAINT claim_marks_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES public.installations(id);


--
-- Name: outbox outbox_repository_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repositories(id);


--
-- Name: publications publications_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id);


--
-- Name: publications publications_repository_id_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.publications
    ADD CONSTRAINT publications_repository_id_installation_id_fkey FOREIGN KEY (repository_id, installation_id) REFERENCES public.repositories(id, installation_id) ON UPDATE CASCADE;


--
-- Name: reconciliation_findings reconciliation_findings_execution_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.reconciliation_findings
    ADD CONSTRAINT reconciliation_findings_execution_attempt_id_fkey FOREIGN KEY (execution_attempt_id) REFERENCES public.release_run_attempts(id);


--
-- Name: reconciliation_findings reconciliation_findings_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.reconciliation_findings
    ADD CONSTRAINT reconciliation_findings_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id);


--
-- Name: reconciliation_findings reconciliation_findings_repository_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.reconciliation_findings
    ADD CONSTRAINT reconciliation_findings_repository_id_fkey FOREIGN KEY (repository_id) REFERENCES public.repositories(id);


--
-- Name: refs refs_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.refs
    ADD CONSTRAINT refs_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id) DEFERRABLE INITIALLY DEFERRED;


--
-- Name: refs refs_repository_id_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.refs
    ADD CONSTRAINT refs_repository_id_installation_id_fkey FOREIGN KEY (repository_id, installation_id) REFERENCES public.repositories(id, installation_id) ON UPDATE CASCADE;


--
-- Name: release_run_attempts release_run_attempts_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_run_attempts
    ADD CONSTRAINT release_run_attempts_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id);


--
-- Name: release_run_attempts release_run_attempts_repository_id_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_run_attempts
    ADD CONSTRAINT release_run_attempts_repository_id_installation_id_fkey FOREIGN KEY (repository_id, installation_id) REFERENCES public.repositories(id, installation_id) ON UPDATE CASCADE;


--
-- Name: release_runs release_runs_execution_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_runs
    ADD CONSTRAINT release_runs_execution_attempt_id_fkey FOREIGN KEY (execution_attempt_id) REFERENCES public.release_run_attempts(id) DEFERRABLE INITIALLY DEFERRED;


--
-- Name: release_runs release_runs_repository_id_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_runs
    ADD CONSTRAINT release_runs_repository_id_installation_id_fkey FOREIGN KEY (repository_id, installation_id) REFERENCES public.repositories(id, installation_id) ON UPDATE CASCADE;


--
-- Name: release_runs release_runs_superseded_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.release_runs
    ADD CONSTRAINT release_runs_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES public.release_runs(id) DEFERRABLE INITIALLY DEFERRED;


--
-- Name: repositories repositories_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.repositories
    ADD CONSTRAINT repositories_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES public.installations(id);


--
-- Name: runner_enrollments runner_enrollments_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_enrollments
    ADD CONSTRAINT runner_enrollments_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES public.installations(id);


--
-- Name: runner_enrollments runner_enrollments_registration_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_enrollments
    ADD CONSTRAINT runner_enrollments_registration_id_fkey FOREIGN KEY (registration_id) REFERENCES public.runner_registrations(id);


--
-- Name: runner_leases runner_leases_execution_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_leases
    ADD CONSTRAINT runner_leases_execution_attempt_id_fkey FOREIGN KEY (execution_attempt_id) REFERENCES public.release_run_attempts(id);


--
-- Name: runner_leases runner_leases_registration_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_leases
    ADD CONSTRAINT runner_leases_registration_id_fkey FOREIGN KEY (registration_id) REFERENCES public.runner_registrations(id);


--
-- Name: runner_leases runner_leases_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_leases
    ADD CONSTRAINT runner_leases_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id);


--
-- Name: runner_registrations runner_registrations_installation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_registrations
    ADD CONSTRAINT runner_registrations_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES public.installations(id);


--
-- Name: runner_result_audit runner_result_audit_execution_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_result_audit
    ADD CONSTRAINT runner_result_audit_execution_attempt_id_fkey FOREIGN KEY (execution_attempt_id) REFERENCES public.release_run_attempts(id);


--
-- Name: runner_result_audit runner_result_audit_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_result_audit
    ADD CONSTRAINT runner_result_audit_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id);


--
-- Name: runner_results runner_results_execution_attempt_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_results
    ADD CONSTRAINT runner_results_execution_attempt_id_fkey FOREIGN KEY (execution_attempt_id) REFERENCES public.release_run_attempts(id);


--
-- Name: runner_results runner_results_release_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE ONLY public.runner_results
    ADD CONSTRAINT runner_results_release_run_id_fkey FOREIGN KEY (release_run_id) REFERENCES public.release_runs(id);


--
-- Name: installations app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.installations TO boardreadyops_app USING (true) WITH CHECK (true);


--
-- Name: publications app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.publications FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: reconciliation_findings app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.reconciliation_findings FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: refs app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.refs FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: release_run_attempts app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.release_run_attempts TO boardreadyops_app USING (true);


--
-- Name: release_run_transition_events app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.release_run_transition_events FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: release_runs app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.release_runs TO boardreadyops_app USING (true);


--
-- Name: repositories app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.repositories TO boardreadyops_app USING (true) WITH CHECK (true);


--
-- Name: runner_enrollments app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.runner_enrollments FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: runner_leases app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.runner_leases FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: runner_registrations app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.runner_registrations FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: runner_result_audit app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.runner_result_audit FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: runner_results app_all; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY app_all ON public.runner_results FOR SELECT TO boardreadyops_app USING (true);


--
-- Name: claim_marks; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.claim_marks ENABLE ROW LEVEL SECURITY;

--
-- Name: installations; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.installations ENABLE ROW LEVEL SECURITY;

--
-- Name: publications; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.publications ENABLE ROW LEVEL SECURITY;

--
-- Name: installations reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.installations FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible((id)::bigint));


--
-- Name: publications reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.publications FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: refs reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.refs FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: release_run_attempts reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.release_run_attempts FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: release_run_transition_events reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.release_run_transition_events FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: release_runs reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.release_runs FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: repositories reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.repositories FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: runner_leases reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.runner_leases FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: runner_registrations reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.runner_registrations FOR SELECT TO boardreadyops_reader USING (((installation_id IS NULL) OR public.boardreadyops_tenant_visible(installation_id)));


--
-- Name: runner_result_audit reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.runner_result_audit FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: runner_results reader_tenant; Type: POLICY; Schema: public; Owner: boardreadyops_owner
--

CREATE POLICY reader_tenant ON public.runner_results FOR SELECT TO boardreadyops_reader USING (public.boardreadyops_tenant_visible(installation_id));


--
-- Name: reconciliation_findings; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.reconciliation_findings ENABLE ROW LEVEL SECURITY;

--
-- Name: refs; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.refs ENABLE ROW LEVEL SECURITY;

--
-- Name: release_run_attempts; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.release_run_attempts ENABLE ROW LEVEL SECURITY;

--
-- Name: release_run_transition_events; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.release_run_transition_events ENABLE ROW LEVEL SECURITY;

--
-- Name: release_runs; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.release_runs ENABLE ROW LEVEL SECURITY;

--
-- Name: repositories; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.repositories ENABLE ROW LEVEL SECURITY;

--
-- Name: runner_enrollments; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.runner_enrollments ENABLE ROW LEVEL SECURITY;

--
-- Name: runner_leases; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.runner_leases ENABLE ROW LEVEL SECURITY;

--
-- Name: runner_registrations; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.runner_registrations ENABLE ROW LEVEL SECURITY;

--
-- Name: runner_result_audit; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.runner_result_audit ENABLE ROW LEVEL SECURITY;

--
-- Name: runner_results; Type: ROW SECURITY; Schema: public; Owner: boardreadyops_owner
--

ALTER TABLE public.runner_results ENABLE ROW LEVEL SECURITY;

--
-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: boardreadyops_owner
--

REVOKE USAGE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO boardreadyops_app;
GRANT USAGE ON SCHEMA public TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_acknowledge_publication(p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_acknowledge_publication(p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_acknowledge_publication(p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_acknowledge_workflow_dispatch(p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_acknowledge_workflow_dispatch(p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_acknowledge_workflow_dispatch(p_effect_id bigint, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: TABLE refs; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.refs TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_adopt_observation(p_observed public.refs, p_confirmed_observation bigint); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_adopt_observation(p_observed public.refs, p_confirmed_observation bigint) FROM PUBLIC;


--
-- Name: TABLE runner_leases; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.runner_leases TO boardreadyops_app;


--
-- Name: COLUMN runner_leases.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.registration_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(registration_id) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.execution_attempt_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(execution_attempt_id) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.state; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(state) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.stage; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(stage) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.progress; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(progress) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.message; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(message) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.heartbeat_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(heartbeat_at) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: COLUMN runner_leases.expires_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(expires_at) ON TABLE public.runner_leases TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_advance_lease_stage(p_lease public.runner_leases, p_stage text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_advance_lease_stage(p_lease public.runner_leases, p_stage text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: TABLE release_run_attempts; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.release_run_attempts TO boardreadyops_app;


--
-- Name: COLUMN release_run_attempts.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.release_run_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(release_run_id) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.number; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(number) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.retry_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(retry_id) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.status; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(status) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.inferred; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(inferred) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.created_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(created_at) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.updated_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(updated_at) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.finished_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(finished_at) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: COLUMN release_run_attempts.version; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(version) ON TABLE public.release_run_attempts TO boardreadyops_reader;


--
-- Name: TABLE release_runs; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.release_runs TO boardreadyops_app;


--
-- Name: COLUMN release_runs.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.repository_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(repository_id) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.ref; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(ref) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.pull_request_number; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(pull_request_number) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.commit_sha; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(commit_sha) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.base_sha; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(base_sha) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.status; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(status) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.decision; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(decision) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.execution_attempt_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(execution_attempt_id) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.execution_backend; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(execution_backend) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.trust_mode; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(trust_mode) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.approval; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(approval) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.retry_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(retry_id) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.retry_number; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(retry_number) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.superseded_by; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(superseded_by) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.reason_code; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(reason_code) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.cancelled_by; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(cancelled_by) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.needs; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(needs) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.due_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(due_at) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.created_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(created_at) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.queued_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(queued_at) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.updated_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(updated_at) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.finished_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(finished_at) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: COLUMN release_runs.version; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(version) ON TABLE public.release_runs TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_advance_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_advance_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: TABLE release_run_transition_events; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.release_run_transition_events TO boardreadyops_app;


--
-- Name: COLUMN release_run_transition_events.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.release_run_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(release_run_id) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.execution_attempt_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(execution_attempt_id) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.entity_type; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(entity_type) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.from_status; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(from_status) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.to_status; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(to_status) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.from_version; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(from_version) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.to_version; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(to_version) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.reason_code; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(reason_code) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: COLUMN release_run_transition_events.occurred_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(occurred_at) ON TABLE public.release_run_transition_events TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_append_transition_event(p_event public.release_run_transition_events, p_previous_hash bytea); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_append_transition_event(p_event public.release_run_transition_events, p_previous_hash bytea) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_approve_release_run(p_installation_id bigint, p_release_run_id uuid, p_approved_by text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_approve_release_run(p_installation_id bigint, p_release_run_id uuid, p_approved_by text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_approve_release_run(p_installation_id bigint, p_release_run_id uuid, p_approved_by text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_ask_again(p_run public.release_runs, p_reason_code text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_ask_again(p_run public.release_runs, p_reason_code text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_audit_runner_result(p_attempt public.release_run_attempts, p_registration_id uuid, p_outcome text, p_body_sha256 bytea, p_status text, p_decision text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_audit_runner_result(p_attempt public.release_run_attempts, p_registration_id uuid, p_outcome text, p_body_sha256 bytea, p_status text, p_decision text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_begin_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_begin_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_begin_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_bind_workflow_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_bind_workflow_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_cancel_installation_runs(p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_cancel_installation_runs(p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_cancel_installation_runs(p_installation_id bigint, p_reason_code text, p_limit integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_cancel_ref_runs(p_ref public.refs, p_reason_code text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_cancel_ref_runs(p_ref public.refs, p_reason_code text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_cancel_release_run(p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_cancel_release_run(p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_cancel_release_run(p_installation_id bigint, p_release_run_id uuid, p_reason_code text, p_cancelled_by text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_capabilities_meet(p_capabilities text[], p_needs text[]); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_capabilities_meet(p_capabilities text[], p_needs text[]) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_claim_outbox(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_claim_outbox(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_claim_outbox(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_claim_publications(p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_claim_publications(p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_claim_publications(p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_claim_runner_lease(p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_claim_runner_lease(p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_claim_runner_lease(p_registration_id uuid, p_request_id uuid, p_capabilities text[], p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_claim_verifications(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_claim_verifications(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_claim_verifications(p_limit integer, p_lease_seconds integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_close_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_close_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_close_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_defer_outbox(p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_defer_outbox(p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_defer_outbox(p_effect_id bigint, p_generation bigint, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_defer_publication(p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_defer_publication(p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_defer_publication(p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer, p_now timestamp with time zone, p_sent boolean) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_due_at(p_installation_id bigint, p_status text, p_approval text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_due_at(p_installation_id bigint, p_status text, p_approval text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_end_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_end_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_enqueue_pushed_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_before text, p_commit_sha text, p_confirmed_observation bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_enqueue_pushed_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_before text, p_commit_sha text, p_confirmed_observation bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_enqueue_pushed_ref(p_installation_id bigint, p_repository_id bigint, p_ref text, p_before text, p_commit_sha text, p_confirmed_observation bigint, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_enqueue_release_run_with_outbox(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_trust_mode text, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_enqueue_release_run_with_outbox(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_trust_mode text, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_enqueue_release_run_with_outbox(p_installation_id bigint, p_repository_id bigint, p_ref text, p_pull_request_number integer, p_commit_sha text, p_base_ref text, p_base_sha text, p_draft boolean, p_trust_mode text, p_observed_at timestamp with time zone, p_confirmed_observation bigint, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_expire_runner_lease(p_lease_id uuid, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_expire_runner_lease(p_lease_id uuid, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_expire_runner_leases(p_limit integer, p_only_lease_id uuid, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_expire_runner_leases(p_limit integer, p_only_lease_id uuid, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_expire_runner_leases(p_limit integer, p_only_lease_id uuid, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_give_back_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_lease_id uuid, p_lease_state text, p_reason_code text, p_delay_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_give_back_run(p_run public.release_runs, p_attempt public.release_run_attempts, p_attempt_status text, p_lease_id uuid, p_lease_state text, p_reason_code text, p_delay_seconds integer, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_give_up_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_give_up_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_give_up_workflow_dispatch(p_effect_id bigint, p_generation bigint, p_cause text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_grant_grace(p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_grant_grace(p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_heartbeat_runner_lease(p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_heartbeat_runner_lease(p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_heartbeat_runner_lease(p_lease_id uuid, p_stage text, p_progress integer, p_message text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_insert_release_run(p_id uuid, p_ref public.refs, p_commit_sha text, p_trust_mode text, p_superseded_by uuid, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_insert_release_run(p_id uuid, p_ref public.refs, p_commit_sha text, p_trust_mode text, p_superseded_by uuid, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_issue_runner_enrollment(p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_issue_runner_enrollment(p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_issue_runner_enrollment(p_installation_id bigint, p_repository_ids bigint[], p_name text, p_token_digest bytea, p_ttl_seconds integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_lease_holds(p_run public.release_runs, p_attempt public.release_run_attempts, p_lease public.runner_leases); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_lease_holds(p_run public.release_runs, p_attempt public.release_run_attempts, p_lease public.runner_leases) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_list_due(p_sweep text, p_limit integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_lock_tenant(p_installation_id bigint, p_repository_id bigint); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_lock_tenant(p_installation_id bigint, p_repository_id bigint) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_move_execution_attempt(p_attempt public.release_run_attempts, p_next_status text, p_reason_code text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_move_execution_attempt(p_attempt public.release_run_attempts, p_next_status text, p_reason_code text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_move_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_move_release_run(p_run public.release_runs, p_next_status text, p_reason_code text, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: TABLE runner_registrations; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.runner_registrations TO boardreadyops_app;


--
-- Name: COLUMN runner_registrations.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.runner_registrations TO boardreadyops_reader;


--
-- Name: COLUMN runner_registrations.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.runner_registrations TO boardreadyops_reader;


--
-- Name: COLUMN runner_registrations.name; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(name) ON TABLE public.runner_registrations TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_next_claimable_run(p_registration public.runner_registrations, p_capabilities text[], p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_next_claimable_run(p_registration public.runner_registrations, p_capabilities text[], p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_note_claim_walk(p_installation_id bigint, p_walked bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_note_claim_walk(p_installation_id bigint, p_walked bigint, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_oldest_claimable_run(p_registration public.runner_registrations, p_installation_id bigint, p_capabilities text[], p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_oldest_claimable_run(p_registration public.runner_registrations, p_installation_id bigint, p_capabilities text[], p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_open_head_run(p_ref public.refs, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_open_head_run(p_ref public.refs, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: TABLE publications; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.publications TO boardreadyops_app;


--
-- Name: COLUMN publications.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.release_run_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(release_run_id) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.retry_number; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(retry_number) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.ordinal; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(ordinal) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.check_name; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(check_name) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.desired_seq; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(desired_seq) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.acked_seq; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(acked_seq) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.doubtful; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(doubtful) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.check_run_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(check_run_id) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.available_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(available_at) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.send_count; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(send_count) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.last_error; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(last_error) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.closed_code; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(closed_code) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.created_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(created_at) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: COLUMN publications.acked_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(acked_at) ON TABLE public.publications TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_open_next_ordinal(p_publication public.publications, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_open_next_ordinal(p_publication public.publications, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_open_publication(p_run public.release_runs, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_open_publication(p_run public.release_runs, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_plan_attempt(p_run public.release_runs, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_plan_attempt(p_run public.release_runs, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_publication_payload(p_run public.release_runs); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_publication_payload(p_run public.release_runs) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_raise_publication(p_run public.release_runs); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_raise_publication(p_run public.release_runs) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_reconcile_workflow_run(p_repository_id bigint, p_execution_attempt_id uuid, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_workflow_status text, p_grace_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_reconcile_workflow_run(p_repository_id bigint, p_execution_attempt_id uuid, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_workflow_status text, p_grace_seconds integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_reconcile_workflow_run(p_repository_id bigint, p_execution_attempt_id uuid, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_workflow_status text, p_grace_seconds integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_record_check_run(p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_record_check_run(p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_record_check_run(p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_record_runner_result(p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea, p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_record_runner_result(p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea, p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_record_runner_result(p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea, p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_record_verification(p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_record_verification(p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_record_verification(p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_refuse_event_change(); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_refuse_event_change() FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_register_runner(p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_register_runner(p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_register_runner(p_enrollment_digest bytea, p_token_digest bytea, p_name text, p_runner_version text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_relinquish_runner_lease(p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_relinquish_runner_lease(p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_relinquish_runner_lease(p_lease_id uuid, p_reason text, p_message text, p_needs text[], p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_replace_silent_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_replace_silent_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_republish_worst(p_landed public.publications, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_republish_worst(p_landed public.publications, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_request_confirm(p_ref public.refs, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_request_confirm(p_ref public.refs, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_request_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_request_dispatch(p_run public.release_runs, p_attempt public.release_run_attempts, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_request_workflow_cancel(p_run public.release_runs, p_workflow_run_id bigint, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_request_workflow_cancel(p_run public.release_runs, p_workflow_run_id bigint, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_resume_installation(p_installation_id bigint, p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_resume_installation(p_installation_id bigint, p_limit integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_resume_installation(p_installation_id bigint, p_limit integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_retry_on_github(p_run public.release_runs, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_retry_on_github(p_run public.release_runs, p_workflow_run_id bigint, p_workflow_run_attempt integer, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_retry_release_run(p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_retry_release_run(p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_retry_release_run(p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_revoke_runner(p_registration_id uuid, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_rotate_runner_token(p_registration_id uuid, p_token_digest bytea) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_settle_lease(p_run public.release_runs, p_attempt public.release_run_attempts); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_settle_lease(p_run public.release_runs, p_attempt public.release_run_attempts) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_settle_outbox(p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_settle_outbox(p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_settle_outbox(p_effect_id bigint, p_generation bigint, p_outcome_code text, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_settle_silent_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_grace_seconds integer, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_settle_silent_workflow(p_run public.release_runs, p_attempt public.release_run_attempts, p_grace_seconds integer, p_now timestamp with time zone) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_sweep_deadlines(p_limit integer, p_only_run_id uuid, p_now timestamp with time zone); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_sweep_deadlines(p_limit integer, p_only_run_id uuid, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_sweep_deadlines(p_limit integer, p_only_run_id uuid, p_now timestamp with time zone) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_sweep_levels(p_limit integer, p_now timestamp with time zone, p_skip integer); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_sweep_levels(p_limit integer, p_now timestamp with time zone, p_skip integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_sweep_levels(p_limit integer, p_now timestamp with time zone, p_skip integer) TO boardreadyops_app;


--
-- Name: FUNCTION boardreadyops_tenant_visible(p_installation_id bigint); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_tenant_visible(p_installation_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_tenant_visible(p_installation_id bigint) TO boardreadyops_reader;


--
-- Name: FUNCTION boardreadyops_transition_allowed(p_run public.release_runs, p_attempt public.release_run_attempts, p_next_run_status text, p_next_attempt_status text, p_reason_code text); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_transition_allowed(p_run public.release_runs, p_attempt public.release_run_attempts, p_next_run_status text, p_next_attempt_status text, p_reason_code text) FROM PUBLIC;


--
-- Name: FUNCTION boardreadyops_transition_release_run_state(p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint, p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text, p_now timestamp with time zone, p_expected_attempt_status text, p_expected_attempt_version bigint, p_next_attempt_status text); Type: ACL; Schema: public; Owner: boardreadyops_owner
--

REVOKE ALL ON FUNCTION public.boardreadyops_transition_release_run_state(p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint, p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text, p_now timestamp with time zone, p_expected_attempt_status text, p_expected_attempt_version bigint, p_next_attempt_status text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.boardreadyops_transition_release_run_state(p_release_run_id uuid, p_expected_run_status text, p_expected_run_version bigint, p_expected_execution_attempt_id uuid, p_next_run_status text, p_reason_code text, p_now timestamp with time zone, p_expected_attempt_status text, p_expected_attempt_version bigint, p_next_attempt_status text) TO boardreadyops_app;


--
-- Name: TABLE deployment_settings; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT,UPDATE ON TABLE public.deployment_settings TO boardreadyops_app;


--
-- Name: TABLE installations; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT,INSERT,UPDATE ON TABLE public.installations TO boardreadyops_app;


--
-- Name: COLUMN installations.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.installations TO boardreadyops_reader;


--
-- Name: COLUMN installations.account_login; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(account_login) ON TABLE public.installations TO boardreadyops_reader;


--
-- Name: COLUMN installations.suspended; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(suspended) ON TABLE public.installations TO boardreadyops_reader;


--
-- Name: COLUMN installations.removed; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(removed) ON TABLE public.installations TO boardreadyops_reader;


--
-- Name: TABLE lifecycle_edges; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.lifecycle_edges TO boardreadyops_app;


--
-- Name: TABLE outbox; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.outbox TO boardreadyops_app;


--
-- Name: TABLE page_attempts; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.page_attempts TO boardreadyops_app;
GRANT SELECT ON TABLE public.page_attempts TO boardreadyops_reader;


--
-- Name: TABLE page_publications; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.page_publications TO boardreadyops_app;
GRANT SELECT ON TABLE public.page_publications TO boardreadyops_reader;


--
-- Name: TABLE runner_results; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.runner_results TO boardreadyops_app;


--
-- Name: COLUMN runner_results.execution_attempt_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(execution_attempt_id) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.release_run_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(release_run_id) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.status; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(status) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.decision; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(decision) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.summary; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(summary) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.error_count; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(error_count) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.warning_count; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(warning_count) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.details; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(details) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: COLUMN runner_results.received_at; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(received_at) ON TABLE public.runner_results TO boardreadyops_reader;


--
-- Name: TABLE page_results; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.page_results TO boardreadyops_app;
GRANT SELECT ON TABLE public.page_results TO boardreadyops_reader;


--
-- Name: TABLE repositories; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT,INSERT,UPDATE ON TABLE public.repositories TO boardreadyops_app;


--
-- Name: COLUMN repositories.id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(id) ON TABLE public.repositories TO boardreadyops_reader;


--
-- Name: COLUMN repositories.installation_id; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(installation_id) ON TABLE public.repositories TO boardreadyops_reader;


--
-- Name: COLUMN repositories.owner; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(owner) ON TABLE public.repositories TO boardreadyops_reader;


--
-- Name: COLUMN repositories.name; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(name) ON TABLE public.repositories TO boardreadyops_reader;


--
-- Name: COLUMN repositories.private; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT(private) ON TABLE public.repositories TO boardreadyops_reader;


--
-- Name: TABLE page_runs; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.page_runs TO boardreadyops_app;
GRANT SELECT ON TABLE public.page_runs TO boardreadyops_reader;


--
-- Name: TABLE page_transitions; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.page_transitions TO boardreadyops_app;
GRANT SELECT ON TABLE public.page_transitions TO boardreadyops_reader;


--
-- Name: TABLE reconciliation_findings; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.reconciliation_findings TO boardreadyops_app;


--
-- Name: TABLE runner_enrollments; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.runner_enrollments TO boardreadyops_app;


--
-- Name: TABLE runner_result_audit; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.runner_result_audit TO boardreadyops_app;


--
-- Name: TABLE schema_migrations; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.schema_migrations TO boardreadyops_app;
GRANT SELECT ON TABLE public.schema_migrations TO boardreadyops_reader;


--
-- Name: TABLE sweep_marks; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT ON TABLE public.sweep_marks TO boardreadyops_app;


--
-- Name: TABLE webhook_deliveries; Type: ACL; Schema: public; Owner: boardreadyops_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_deliveries TO boardreadyops_app;


--
-- Name: DEFAULT PRIVILEGES FOR FUNCTIONS; Type: DEFAULT ACL; Schema: -; Owner: boardreadyops_owner
--

ALTER DEFAULT PRIVILEGES FOR ROLE boardreadyops_owner REVOKE ALL ON FUNCTIONS FROM PUBLIC;


--
-- PostgreSQL database dump complete
--


