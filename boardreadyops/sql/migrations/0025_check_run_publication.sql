-- 0025 Check Run creation and publication: one level-triggered row per asking and ordinal.

CREATE TABLE publications (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL REFERENCES release_runs (id),
    retry_id uuid NOT NULL,
    retry_number integer NOT NULL,
    ordinal integer NOT NULL DEFAULT 0 CHECK (ordinal >= 0),
    commit_sha text NOT NULL,
    check_name text NOT NULL CHECK (length(check_name) BETWEEN 1 AND 200),
    external_id text NOT NULL,
    payload jsonb NOT NULL,
    desired_seq bigint NOT NULL DEFAULT 1 CHECK (desired_seq > 0),
    acked_seq bigint NOT NULL DEFAULT 0,
    generation bigint NOT NULL DEFAULT 0,
    leased boolean NOT NULL DEFAULT false,
    claimed_until timestamptz,
    doubtful boolean NOT NULL DEFAULT false,
    doubtful_until timestamptz,
    verify_at timestamptz,
    check_run_id bigint CHECK (check_run_id > 0),
    available_at timestamptz NOT NULL,
    send_count integer NOT NULL DEFAULT 0,
    last_error text CHECK (length(last_error) <= 500),
    closed_code text,
    created_at timestamptz NOT NULL,
    acked_at timestamptz,
    UNIQUE (release_run_id, retry_number, ordinal),
    FOREIGN KEY (repository_id, installation_id) REFERENCES repositories (id, installation_id) ON UPDATE CASCADE,
    CONSTRAINT never_acked_beyond_desired CHECK (acked_seq <= desired_seq)
);
CREATE INDEX publications_due ON publications (available_at, id) WHERE acked_seq < desired_seq AND closed_code IS NULL;
CREATE INDEX publications_leased ON publications (repository_id, commit_sha) WHERE leased;

--! begin functions/publication_payload.sql
-- Purpose: the facts that a Check Run tells about a run, frozen at one moment. Words are made from them by the relay.
-- Outcomes: one JSON object; see boardreadyops/domain/verdict.py for its keys.
-- Locks: none. Writes: nothing.
-- Internal: called only by guarded functions, which hold the run.
CREATE OR REPLACE FUNCTION boardreadyops_publication_payload(p_run release_runs) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
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
        'stage', (SELECT lease.stage FROM runner_leases AS lease
                  WHERE lease.execution_attempt_id = p_run.execution_attempt_id AND lease.state = 'active'));
END
$$;
--! end
--! begin functions/open_publication.sql
-- Purpose: opens the Check Run of one asking; the rows of earlier askings keep what they last had to tell.
-- Outcomes: one row more.
-- Locks: none of its own; the caller holds the run. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_publication(p_run release_runs, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO publications (installation_id, repository_id, release_run_id, retry_id, retry_number, commit_sha,
                              check_name, external_id, payload, available_at, created_at)
    VALUES (p_run.installation_id, p_run.repository_id, p_run.id, p_run.retry_id, p_run.retry_number, p_run.commit_sha,
            CASE WHEN p_run.ref ~ '^refs/(heads|tags)/' AND p_run.ref !~ '^refs/heads/gh-readonly-queue/'
                 THEN 'BoardReadyOps (' || left(regexp_replace(p_run.ref, '^refs/(heads|tags)/', ''), 180) || ')'
                 ELSE 'BoardReadyOps' END,
            p_run.id || ':' || p_run.retry_number || ':0',
            boardreadyops_publication_payload(p_run), p_now, p_now)
$$;
--! end
--! begin functions/raise_publication.sql
-- Purpose: says that the current asking's Check Run has something newer to tell; the newest wins, nothing queues up.
-- Outcomes: desired_seq raised by one on the newest ordinal; a closed row stays closed.
-- Locks: the publication row, after run, attempt and lease. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_raise_publication(p_run release_runs, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    UPDATE publications SET
        payload = boardreadyops_publication_payload(p_run),
        desired_seq = desired_seq + 1,
        available_at = LEAST(available_at, p_now)
    WHERE release_run_id = p_run.id AND retry_number = p_run.retry_number
        AND ordinal = (SELECT max(newest.ordinal) FROM publications AS newest
                       WHERE newest.release_run_id = p_run.id AND newest.retry_number = p_run.retry_number)
$$;
--! end
--! begin functions/claim_publications.sql
-- Purpose: leases Check Runs that have something to tell to a relay. Each claim raises the generation, the relay's
--          fence. Of one commit only one row is leased at a time, the lower retry first, so that writes never overtake.
-- Outcomes: the claimed rows with the payload and the sequence they carry. A row whose earlier claim was never
--   acknowledged comes back `doubtful`, and only p_doubt_seconds after that claim ran out: read GitHub before writing.
-- Locks: publication rows only, skipping locked ones, and a transaction-long advisory lock per (repository, commit).
-- Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_claim_publications(
    p_limit integer, p_lease_seconds integer, p_doubt_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (publication_id bigint, generation bigint, seq bigint, doubtful boolean, check_run_id bigint,
               installation_id bigint, repository_id bigint, repository_owner text, repository_name text,
               release_run_id uuid, retry_number integer, ordinal integer, commit_sha text, check_name text,
               external_id text, payload jsonb, send_count integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_due publications;
    v_row publications;
BEGIN
    FOR v_due IN
        SELECT due.* FROM publications AS due
        WHERE due.acked_seq < due.desired_seq AND due.closed_code IS NULL AND due.available_at <= v_now
            AND (due.claimed_until IS NULL OR due.claimed_until + make_interval(secs => p_doubt_seconds) <= v_now)
        ORDER BY due.available_at, due.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(
            hashtextextended(v_due.repository_id || ' ' || v_due.commit_sha, 0));
        CONTINUE WHEN EXISTS (SELECT FROM publications AS other
            WHERE other.repository_id = v_due.repository_id AND other.commit_sha = v_due.commit_sha
                AND other.id <> v_due.id AND other.closed_code IS NULL
                AND (other.leased OR (other.acked_seq < other.desired_seq AND other.check_name = v_due.check_name
                     AND other.release_run_id = v_due.release_run_id AND other.retry_number < v_due.retry_number)));
        UPDATE publications AS claimed SET
            doubtful = claimed.doubtful OR claimed.leased,
            leased = true,
            generation = claimed.generation + 1,
            send_count = claimed.send_count + 1,
            claimed_until = v_now + make_interval(secs => p_lease_seconds)
        WHERE claimed.id = v_due.id RETURNING * INTO v_row;
        RETURN QUERY SELECT v_row.id, v_row.generation, v_row.desired_seq, v_row.doubtful, v_row.check_run_id,
            v_row.installation_id, v_row.repository_id, repository.owner, repository.name, v_row.release_run_id,
            v_row.retry_number, v_row.ordinal, v_row.commit_sha, v_row.check_name, v_row.external_id, v_row.payload,
            v_row.send_count
        FROM repositories AS repository WHERE repository.id = v_row.repository_id;
    END LOOP;
END
$$;
--! end
--! begin functions/record_check_run.sql
-- Purpose: stores the id of the Check Run that GitHub created for this publication. For a run that a workflow will
--          execute it also moves the planned attempt queued -> dispatching (check_run_created); a runner-executed run
--          is untouched.
-- Outcomes: applied (also for the same id again); stale when another claim has the row by now or another id is stored;
--   not_found.
-- Locks: run -> attempt -> publication. Writes: publications; attempt and event for a planned dispatch.
CREATE OR REPLACE FUNCTION boardreadyops_record_check_run(
    p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_attempt release_run_attempts;
    v_publication publications;
BEGIN
    SELECT run.* INTO v_run FROM release_runs AS run
        JOIN publications AS publication ON publication.release_run_id = run.id
        WHERE publication.id = p_publication_id FOR NO KEY UPDATE OF run;
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
        PERFORM boardreadyops_move_execution_attempt(v_attempt, 'dispatching', 'check_run_created',
            GREATEST(COALESCE(p_now, clock_timestamp()), v_attempt.updated_at));
    END IF;
    RETURN 'applied';
END
$$;
--! end
--! begin functions/acknowledge_publication.sql
-- Purpose: says that GitHub holds what sequence p_seq had to tell, and gives the row back.
-- Outcomes: applied; stale when another claim has the row by now: then only a read-back is asked for, since an older
--   write may have landed last; not_found.
-- Locks: the publication row. Writes: publications. Safe to repeat: the repeat answers stale and asks for a read-back.
CREATE OR REPLACE FUNCTION boardreadyops_acknowledge_publication(
    p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
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
    WHERE id = p_publication_id;
    RETURN 'applied';
END
$$;
--! end
--! begin functions/defer_publication.sql
-- Purpose: gives a claimed row back after a failed send. `uncertain` (the request may have been executed) leaves the row
--          leased and doubtful until the doubt has passed; `gone` closes it for good with that code; the others are tried
--          again after the delay.
-- Outcomes: applied; stale when another claim has the row by now; not_found; invalid for an unknown class.
-- Locks: the publication row. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_defer_publication(
    p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_now timestamptz := COALESCE(p_now, clock_timestamp());
    v_publication publications;
BEGIN
    IF p_error_class NOT IN ('gone', 'denied', 'rate_limited', 'transient', 'uncertain') THEN
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
        doubtful = doubtful OR p_error_class = 'uncertain',
        leased = p_error_class = 'uncertain',
        claimed_until = CASE WHEN p_error_class = 'uncertain' THEN v_now END,
        available_at = v_now + make_interval(secs => p_delay_seconds),
        closed_code = CASE WHEN p_error_class = 'gone' THEN 'gone' END
    WHERE id = p_publication_id;
    RETURN 'applied';
END
$$;
--! end

ALTER TABLE publications ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON publications FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON publications FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));

CREATE VIEW page_publications WITH (security_invoker = true) AS
    SELECT release_run_id, retry_number, ordinal, check_name, check_run_id, desired_seq, acked_seq, doubtful,
           send_count, last_error, closed_code, available_at, acked_at, created_at
    FROM publications;
GRANT SELECT ON publications, page_publications TO boardreadyops_app;
GRANT SELECT (installation_id, release_run_id, retry_number, ordinal, check_name, check_run_id, desired_seq, acked_seq,
              doubtful, send_count, last_error, closed_code, available_at, acked_at, created_at)
    ON publications TO boardreadyops_reader;
GRANT SELECT ON page_publications TO boardreadyops_reader;
GRANT EXECUTE ON FUNCTION boardreadyops_claim_publications, boardreadyops_record_check_run,
    boardreadyops_acknowledge_publication, boardreadyops_defer_publication TO boardreadyops_app;
