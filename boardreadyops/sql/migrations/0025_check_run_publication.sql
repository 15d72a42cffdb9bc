-- 0025 Check Run creation and publication: one level-triggered row per asking and ordinal.

CREATE TABLE publications (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL REFERENCES release_runs (id),
    retry_id uuid NOT NULL,
    retry_number integer NOT NULL,
    ordinal counter NOT NULL DEFAULT 0,
    commit_sha text NOT NULL,
    check_name check_name NOT NULL,
    external_id text NOT NULL,
    payload jsonb NOT NULL,
    desired_seq bigint NOT NULL DEFAULT 1,
    acked_seq bigint NOT NULL DEFAULT 0,
    generation bigint NOT NULL DEFAULT 0,
    leased boolean NOT NULL DEFAULT false,
    claimed_until timestamptz,
    doubtful boolean NOT NULL DEFAULT false,
    doubtful_until timestamptz,
    verify_at timestamptz,
    check_run_id github_id,
    available_at timestamptz NOT NULL,
    send_count integer NOT NULL DEFAULT 0,
    last_error last_error,
    closed_code text,
    created_at timestamptz NOT NULL,
    acked_at timestamptz,
    UNIQUE (release_run_id, retry_number, ordinal),
    FOREIGN KEY (repository_id, installation_id) REFERENCES repositories (id, installation_id) ON UPDATE CASCADE,
    CONSTRAINT never_acked_beyond_desired CHECK (acked_seq <= desired_seq AND desired_seq > 0)
);
CREATE INDEX publications_due ON publications (available_at, id) WHERE acked_seq < desired_seq AND closed_code IS NULL;
CREATE INDEX publications_to_verify ON publications (verify_at, id)
    WHERE verify_at IS NOT NULL AND closed_code IS NULL;
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
        'needs', p_run.needs,
        'stage', CASE WHEN p_run.status = 'running' THEN
            (SELECT lease.stage FROM runner_leases AS lease
             WHERE lease.execution_attempt_id = p_run.execution_attempt_id AND lease.state = 'active') END);
END
$$;
--! end
--! begin functions/open_publication.sql
-- Purpose: opens the Check Run of one asking; the rows of earlier askings keep what they last had to tell.
-- Outcomes: one row more.
-- Locks: none of its own; the caller holds the run. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_publication(p_run release_runs, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
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
--! end
--! begin functions/raise_publication.sql
-- Purpose: says that the current asking's Check Run has something newer to tell; the newest wins, nothing queues up.
-- Outcomes: desired_seq raised by one on every ordinal of the asking; a closed row stays closed, and a pause that GitHub
--   asked for is kept.
-- Locks: the publication rows, after run, attempt and lease. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_raise_publication(p_run release_runs) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE publications SET
        payload = boardreadyops_publication_payload(p_run),
        desired_seq = desired_seq + 1
    WHERE release_run_id = p_run.id AND retry_number = p_run.retry_number;
END
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
--! end
--! begin functions/record_check_run.sql
-- Purpose: stores the id of the Check Run that GitHub created for this publication. For a run that a workflow will
--          execute it also moves the planned attempt queued -> dispatching (check_run_created); a runner-executed run
--          is untouched.
-- Outcomes: applied (also for the same id again); stale when another claim has the row by now or another id is stored;
--   not_found.
-- Locks: run -> attempt -> publication. Writes: publications; attempt, event and outbox for a
--   planned dispatch.
CREATE OR REPLACE FUNCTION boardreadyops_record_check_run(
    p_publication_id bigint, p_generation bigint, p_check_run_id bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
--! end
--! begin functions/open_next_ordinal.sql
-- Purpose: tells an asking's state once more in a check of its own, the newest of its name on the commit.
-- Outcomes: one row more, unless a newer ordinal exists already.
-- Locks: none of its own; the caller holds the run. Writes: publications.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_open_next_ordinal(p_publication publications, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO publications (installation_id, repository_id, release_run_id, retry_id, retry_number, ordinal, commit_sha,
                              check_name, external_id, payload, available_at, created_at)
    VALUES (p_publication.installation_id, p_publication.repository_id, p_publication.release_run_id,
            p_publication.retry_id, p_publication.retry_number, p_publication.ordinal + 1, p_publication.commit_sha,
            p_publication.check_name,
            p_publication.release_run_id || ':' || p_publication.retry_number || ':' || p_publication.ordinal + 1,
            p_publication.payload, p_now, p_now)
    ON CONFLICT (release_run_id, retry_number, ordinal) DO NOTHING
$$;
--! end
--! begin functions/republish_worst.sql
-- Purpose: one commit shows one check per name, the newest. When a neutral one landed on a commit that heads another open
--          ref, the worst verdict among the authoritative runs of open refs on that commit is told anew, and so last.
-- Outcomes: at most one new ordinal.
-- Locks: the publication told anew; the caller holds its run (shared), so that what it tells stays true. Reads refs
--   without locks: a ref that comes to this commit tells its own state. Writes: publications.
-- Internal: called only by acknowledge_publication.
CREATE OR REPLACE FUNCTION boardreadyops_republish_worst(p_landed publications, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
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
--! end
--! begin functions/acknowledge_publication.sql
-- Purpose: says that GitHub holds what sequence p_seq had to tell, and gives the row back. A neutral end that landed on a
--          commit which heads another open ref has the worst verdict there told anew.
-- Outcomes: applied; stale when another claim has the row by now: then only a read-back is asked for, since an older
--   write may have landed last; not_found.
-- Locks: for a neutral end the authoritative runs of open refs on its commit (shared, ascending id) -> the publication row.
-- Writes: publications. Safe to repeat: the repeat answers stale and asks for a read-back.
CREATE OR REPLACE FUNCTION boardreadyops_acknowledge_publication(
    p_publication_id bigint, p_generation bigint, p_seq bigint, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
--! end
--! begin functions/defer_publication.sql
-- Purpose: gives a claimed row back after a failed send. `uncertain` (the request may have been executed) leaves the row
--          leased and doubtful until the doubt has passed; `gone` closes it for good with that code; the others are tried
--          again after the delay.
--          What was given back before anything was sent (`p_sent` false) does not count as a send.
-- Outcomes: applied; stale when another claim has the row by now; not_found; invalid for an unknown class.
-- Locks: the publication row. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_defer_publication(
    p_publication_id bigint, p_generation bigint, p_error_class text, p_error text, p_delay_seconds integer,
    p_now timestamptz DEFAULT NULL, p_sent boolean DEFAULT true) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
--! end
--! begin functions/claim_verifications.sql
-- Purpose: Check Runs that are due to be read back: an older write may have landed last, or it is time to look.
-- Outcomes: rows whose last word is acknowledged and whose verify_at has come; each is put off by p_lease_seconds, so that one
--   relay looks at a time.
-- Locks: publication rows, skipping locked ones. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_claim_verifications(
    p_limit integer, p_lease_seconds integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (publication_id bigint, seq bigint, check_run_id bigint, installation_id bigint, repository_owner text,
               repository_name text, external_id text, release_run_id uuid, ordinal integer, payload jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
--! end
--! begin functions/record_verification.sql
-- Purpose: what a read-back of a Check Run found. `same`: GitHub shows what we told. `different`: it is told again.
--          `frozen`: it was told again and GitHub keeps the old word, so the next ordinal tells it in a check of its own.
--          `gone`: the check is no longer there, so the next ordinal makes a new one.
-- Outcomes, in this order: not_found | invalid (unknown finding) | stale (more was desired since: nothing to do) | applied.
-- Locks: run -> publication. Writes: publications.
CREATE OR REPLACE FUNCTION boardreadyops_record_verification(
    p_publication_id bigint, p_seq bigint, p_finding text, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
    boardreadyops_acknowledge_publication, boardreadyops_defer_publication, boardreadyops_claim_verifications,
    boardreadyops_record_verification TO boardreadyops_app;
