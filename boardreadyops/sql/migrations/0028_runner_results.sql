-- 0028 runner results and retries: what was concluded, a record of what came too late, and asking anew.

CREATE TABLE runner_results (
    execution_attempt_id uuid PRIMARY KEY REFERENCES release_run_attempts (id),
    installation_id bigint NOT NULL,
    release_run_id uuid NOT NULL REFERENCES release_runs (id),
    retry_id uuid NOT NULL,
    body_sha256 digest NOT NULL,
    status text NOT NULL CHECK (status IN ('completed', 'failed', 'timed_out')),
    decision decision NOT NULL,
    summary text NOT NULL CHECK (length(summary) <= 4000),
    error_count counter NOT NULL,
    warning_count counter NOT NULL,
    details jsonb NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX runner_results_by_run ON runner_results (release_run_id);

CREATE TABLE runner_result_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation_id bigint NOT NULL,
    release_run_id uuid NOT NULL REFERENCES release_runs (id),
    execution_attempt_id uuid NOT NULL REFERENCES release_run_attempts (id),
    registration_id uuid,
    outcome text NOT NULL CHECK (outcome IN ('late', 'conflict')),
    body_sha256 digest NOT NULL,
    status text NOT NULL,
    decision text NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX runner_result_audit_by_run ON runner_result_audit (release_run_id, id);

--! begin functions/audit_runner_result.sql
-- Purpose: keeps a result that came too late or contradicts the accepted one, once per attempt, outcome and digest.
-- Outcomes: the audit row's id; null for a replay, which needs no record.
-- Locks: none of its own; the caller holds run and attempt, so that no second row can appear. Writes: runner_result_audit.
-- Internal: called only by record_runner_result.
CREATE OR REPLACE FUNCTION boardreadyops_audit_runner_result(
    p_attempt release_run_attempts, p_registration_id uuid, p_outcome text, p_body_sha256 bytea, p_status text,
    p_decision text, p_now timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
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
--! end
--! begin functions/record_runner_result.sql
-- Purpose: takes a runner's result for one attempt and, when that attempt still speaks for the run, ends the run with it.
-- Outcomes, in this order: not_found (no such run, or the attempt is none of its) | invalid_transition (status and
--   decision do not go together) | replayed (this attempt's accepted result had the same digest) | conflict (it had other
--   content) | late (the attempt does not speak for the run: not dispatched yet, or over) | accepted. conflict and late are kept in the audit, once
--   per digest, and change nothing else. An inferred failure is corrected by the genuine result of the same attempt.
-- Locks: run -> attempt -> lease -> publication.
-- Writes: runner_results, run, attempt, events, lease, publication; or runner_result_audit alone.
CREATE OR REPLACE FUNCTION boardreadyops_record_runner_result(
    p_release_run_id uuid, p_execution_attempt_id uuid, p_retry_id uuid, p_registration_id uuid, p_body_sha256 bytea,
    p_status text, p_decision text, p_summary text, p_error_count integer, p_warning_count integer, p_details jsonb,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (result_outcome text, audit_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
    PERFORM boardreadyops_settle_lease(v_run, v_attempt, v_now);
    PERFORM boardreadyops_raise_publication(v_run);
    RETURN QUERY SELECT 'accepted'::text, NULL::bigint;
END
$$;
--! end
--! begin functions/retry_release_run.sql
-- Purpose: asks a terminal run anew on someone's word. The caller says which asking it looked at, so that a doubled click or
--          delivery retries once.
-- Outcomes, in this order: not_found (unknown, or another installation's, or a disabled one) | existing (the number is
--   already the expected one plus one) | stale (any other number) | superseded (not the head of an open ref) |
--   not_terminal | created. The retry that holds now comes back with each but not_found.
-- Locks: installation, repository (shared) -> ref -> run -> publication. Writes: ref, run, planned attempt, event,
--   publication.
CREATE OR REPLACE FUNCTION boardreadyops_retry_release_run(
    p_installation_id bigint, p_release_run_id uuid, p_expected_retry_number integer, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (retry_outcome text, retry_id uuid, retry_number integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    v_run release_runs;
    v_ref refs;
    v_outcome text;
BEGIN
    SELECT * INTO v_run FROM release_runs AS run
        WHERE run.id = p_release_run_id AND run.installation_id = p_installation_id;
    IF NOT FOUND OR boardreadyops_lock_tenant(p_installation_id, v_run.repository_id) IS NOT TRUE THEN
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
--! end

ALTER TABLE runner_results ENABLE ROW LEVEL SECURITY;
ALTER TABLE runner_result_audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON runner_results FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY app_all ON runner_result_audit FOR SELECT TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON runner_results FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));
CREATE POLICY reader_tenant ON runner_result_audit FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));

CREATE VIEW page_results WITH (security_invoker = true) AS
    SELECT execution_attempt_id, release_run_id, status, decision, summary, error_count, warning_count, details,
           received_at
    FROM runner_results;
GRANT SELECT ON runner_results, runner_result_audit, page_results TO boardreadyops_app;
GRANT SELECT (execution_attempt_id, installation_id, release_run_id, status, decision, summary, error_count,
              warning_count, details, received_at)
    ON runner_results TO boardreadyops_reader;
GRANT SELECT ON page_results TO boardreadyops_reader;
GRANT EXECUTE ON FUNCTION boardreadyops_record_runner_result, boardreadyops_retry_release_run TO boardreadyops_app;
