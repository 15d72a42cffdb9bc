-- 0022 baseline: tenants, runs, attempts, deliveries and effects as they stood before versions.
-- Everything belongs to boardreadyops_owner. PUBLIC holds nothing; each login is granted what it needs, by name.

ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO boardreadyops_app, boardreadyops_reader;

-- What one column may hold, as domains: a domain is checked where a column is written, while PostgreSQL prepares and tests
-- every CHECK of a table in each statement that writes one of its rows (docs/performance.md). Clients see the base type.
CREATE DOMAIN commit_sha AS text
    CHECK (length(VALUE) IN (40, 64) AND translate(VALUE, '0123456789abcdef', '') = '');
CREATE DOMAIN git_ref AS text CHECK (VALUE LIKE 'refs/%' AND length(VALUE) <= 500);
CREATE DOMAIN ref_name AS text CHECK (length(VALUE) <= 500);
CREATE DOMAIN run_status AS text CHECK (VALUE IN
    ('queued', 'dispatched', 'running', 'completed', 'failed', 'timed_out', 'cancelled', 'superseded'));
CREATE DOMAIN attempt_status AS text CHECK (VALUE IN
    ('queued', 'dispatching', 'dispatched', 'in_progress', 'uploading_artifacts', 'reporting',
     'completed', 'failed', 'cancelled', 'timed_out', 'stale', 'superseded'));
CREATE DOMAIN entity_type AS text CHECK (VALUE IN ('release_run', 'execution_attempt'));
CREATE DOMAIN reason_code AS text CHECK (VALUE ~ '^[a-z0-9]+([._-][a-z0-9]+)*$' AND length(VALUE) <= 128);
CREATE DOMAIN decision AS text CHECK (VALUE IN ('pass', 'fail', 'error'));
CREATE DOMAIN execution_backend AS text CHECK (VALUE IN ('runner', 'actions'));
CREATE DOMAIN trust_mode AS text CHECK (VALUE IN ('trusted', 'fork'));
CREATE DOMAIN approval AS text CHECK (VALUE IN ('not_needed', 'waiting', 'approved'));
CREATE DOMAIN capabilities AS text[] CHECK (cardinality(VALUE) <= 20);
CREATE DOMAIN effect_kind AS text
    CHECK (VALUE IN ('confirm_pull_request', 'confirm_ref', 'workflow_dispatch', 'workflow_cancel'));
CREATE DOMAIN check_name AS text CHECK (length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN lease_state AS text CHECK (VALUE IN
    ('active', 'expired', 'revoked', 'completed', 'relinquished', 'superseded', 'cancelled', 'timed_out', 'failed'));
CREATE DOMAIN lease_stage AS text CHECK (VALUE IN
    ('claimed', 'preparing_source', 'running', 'uploading_artifacts', 'reporting'));
CREATE DOMAIN percentage AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN lease_message AS text CHECK (length(VALUE) <= 500);
CREATE DOMAIN person AS text CHECK (length(VALUE) <= 200);
CREATE DOMAIN last_error AS text CHECK (length(VALUE) <= 500);
CREATE DOMAIN github_id AS bigint CHECK (VALUE > 0);
CREATE DOMAIN positive_integer AS integer CHECK (VALUE > 0);
CREATE DOMAIN counter AS integer CHECK (VALUE >= 0);
CREATE DOMAIN version AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN digest AS bytea CHECK (length(VALUE) = 32);
CREATE DOMAIN chain_hash AS bytea CHECK (length(VALUE) IN (0, 32));

-- The deployment's defaults, in the database so that every replica and every function sees the same ones.
CREATE TABLE deployment_settings (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    approval_timeout_seconds integer NOT NULL DEFAULT 604800 CHECK (approval_timeout_seconds > 0),
    queue_timeout_seconds integer NOT NULL DEFAULT 21600 CHECK (queue_timeout_seconds > 0),
    start_timeout_seconds integer NOT NULL DEFAULT 1800 CHECK (start_timeout_seconds > 0),
    run_timeout_seconds integer NOT NULL DEFAULT 5400 CHECK (run_timeout_seconds > 0),
    lease_seconds integer NOT NULL DEFAULT 120 CHECK (lease_seconds >= 3),
    max_execution_attempts integer NOT NULL DEFAULT 3 CHECK (max_execution_attempts BETWEEN 1 AND 20)
);
INSERT INTO deployment_settings DEFAULT VALUES;

CREATE TABLE installations (
    id github_id PRIMARY KEY,
    account_login text NOT NULL CHECK (length(account_login) BETWEEN 1 AND 100),
    account_id bigint,
    suspended boolean NOT NULL DEFAULT false,
    removed boolean NOT NULL DEFAULT false,
    observed_at timestamptz,
    execution_backend execution_backend,
    fork_policy text NOT NULL DEFAULT 'approve' CHECK (fork_policy IN ('run', 'approve', 'skip')),
    approval_timeout_seconds integer CHECK (approval_timeout_seconds > 0),
    queue_timeout_seconds integer CHECK (queue_timeout_seconds > 0),
    start_timeout_seconds integer CHECK (start_timeout_seconds > 0),
    run_timeout_seconds integer CHECK (run_timeout_seconds > 0),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE repositories (
    id github_id PRIMARY KEY,
    installation_id bigint NOT NULL REFERENCES installations (id),
    owner text NOT NULL CHECK (length(owner) BETWEEN 1 AND 100),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    private boolean NOT NULL DEFAULT true,
    default_branch text,
    enabled boolean NOT NULL DEFAULT true,
    execution_backend execution_backend,
    observed_at timestamptz NOT NULL DEFAULT '-infinity',
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (id, installation_id)
);
CREATE INDEX repositories_by_installation ON repositories (installation_id);

CREATE TABLE webhook_deliveries (
    delivery_id text PRIMARY KEY CHECK (length(delivery_id) BETWEEN 1 AND 100),
    event text NOT NULL,
    action text,
    installation_id bigint,
    body_sha256 digest NOT NULL,
    status text NOT NULL DEFAULT 'accepted' CHECK (status IN ('accepted', 'ignored')),
    reason text,
    actions jsonb NOT NULL DEFAULT '[]',
    received_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE release_runs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    ref git_ref NOT NULL,
    pull_request_number positive_integer,
    commit_sha commit_sha NOT NULL,
    base_sha commit_sha,
    status run_status NOT NULL DEFAULT 'queued',
    decision decision,
    execution_attempt_id uuid,
    execution_backend execution_backend NOT NULL DEFAULT 'runner',
    trust_mode trust_mode NOT NULL,
    approval approval NOT NULL DEFAULT 'not_needed',
    retry_id uuid NOT NULL DEFAULT gen_random_uuid(),
    retry_number counter NOT NULL DEFAULT 0,
    superseded_by uuid REFERENCES release_runs (id) DEFERRABLE INITIALLY DEFERRED,
    reason_code reason_code,
    cancelled_by person,
    approved_by person,
    approved_at timestamptz,
    lost_attempts counter NOT NULL DEFAULT 0,
    given_back counter NOT NULL DEFAULT 0,
    needs capabilities NOT NULL DEFAULT '{}',
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    queued_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    finished_at timestamptz,
    UNIQUE (repository_id, ref, commit_sha),
    FOREIGN KEY (repository_id, installation_id) REFERENCES repositories (id, installation_id) ON UPDATE CASCADE,
    CONSTRAINT completed_means_decided CHECK ((status = 'completed') = COALESCE(decision IN ('pass', 'fail'), false)),
    CONSTRAINT terminal_means_finished CHECK ((status IN ('queued', 'dispatched', 'running')) = (finished_at IS NULL)),
    CONSTRAINT open_means_due CHECK ((finished_at IS NULL) = (due_at IS NOT NULL)),
    CONSTRAINT superseded_names_successor CHECK (status <> 'superseded' OR superseded_by IS NOT NULL)
);
CREATE UNIQUE INDEX release_runs_one_open_per_ref ON release_runs (repository_id, ref)
    WHERE status IN ('queued', 'dispatched', 'running') AND superseded_by IS NULL;
CREATE INDEX release_runs_claimable ON release_runs (installation_id, queued_at, id)
    WHERE status = 'queued' AND execution_backend = 'runner' AND approval <> 'waiting' AND superseded_by IS NULL;
CREATE INDEX release_runs_claimable_with_needs ON release_runs (installation_id, queued_at)
    WHERE status = 'queued' AND execution_backend = 'runner' AND approval <> 'waiting' AND superseded_by IS NULL
        AND needs <> '{}';
CREATE INDEX release_runs_newest_claimable ON release_runs (queued_at DESC, id DESC)
    WHERE status = 'queued' AND execution_backend = 'runner' AND approval <> 'waiting' AND superseded_by IS NULL;
CREATE INDEX release_runs_due ON release_runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX release_runs_newest ON release_runs (created_at DESC, id DESC);
CREATE INDEX release_runs_open_by_installation ON release_runs (installation_id, id)
    WHERE status IN ('queued', 'dispatched', 'running');

CREATE TABLE release_run_attempts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL,
    release_run_id uuid NOT NULL REFERENCES release_runs (id),
    number positive_integer NOT NULL,
    retry_id uuid NOT NULL,
    status attempt_status NOT NULL,
    inferred boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    finished_at timestamptz,
    UNIQUE (release_run_id, number),
    FOREIGN KEY (repository_id, installation_id) REFERENCES repositories (id, installation_id) ON UPDATE CASCADE,
    CONSTRAINT terminal_means_finished CHECK (
        (status IN ('completed', 'failed', 'cancelled', 'timed_out', 'stale', 'superseded')) = (finished_at IS NOT NULL))
);
ALTER TABLE release_runs ADD FOREIGN KEY (execution_attempt_id) REFERENCES release_run_attempts (id)
    DEFERRABLE INITIALLY DEFERRED;

-- One-shot effects. A claim raises the generation; whoever holds an older one can settle nothing.
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind effect_kind NOT NULL,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL REFERENCES repositories (id),
    ref text NOT NULL,
    pull_request_number integer,
    release_run_id uuid,
    execution_attempt_id uuid,
    workflow_run_id github_id,
    started_at timestamptz,
    generation bigint NOT NULL DEFAULT 0,
    claimed_until timestamptz,
    available_at timestamptz NOT NULL,
    send_count integer NOT NULL DEFAULT 0,
    last_error last_error,
    outcome_code text,
    created_at timestamptz NOT NULL,
    settled_at timestamptz
);
CREATE INDEX outbox_due ON outbox (available_at, id) WHERE settled_at IS NULL;
CREATE UNIQUE INDEX outbox_one_confirm_per_ref ON outbox (repository_id, ref)
    WHERE kind IN ('confirm_pull_request', 'confirm_ref') AND settled_at IS NULL;
CREATE UNIQUE INDEX outbox_one_cancel_per_workflow_run ON outbox (repository_id, workflow_run_id)
    WHERE kind = 'workflow_cancel' AND settled_at IS NULL;
CREATE UNIQUE INDEX outbox_one_dispatch_per_attempt ON outbox (execution_attempt_id) WHERE kind = 'workflow_dispatch';

--! begin functions/tenant_visible.sql
-- Purpose: whether a row of this installation may be shown on a page: the reader names its tenants by SET LOCAL, '*' on a local
--          operator's own machine. It asks about its caller, so it runs with its caller's rights.
-- Outcomes: true or false; false when no tenant was named.
-- Locks: none. Writes: nothing.
CREATE OR REPLACE FUNCTION boardreadyops_tenant_visible(p_installation_id bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT COALESCE(current_setting('boardreadyops.installation_ids', true) = '*'
        OR p_installation_id = ANY (
            string_to_array(NULLIF(current_setting('boardreadyops.installation_ids', true), ''), ',')::bigint[]), false)
$$;
--! end
GRANT EXECUTE ON FUNCTION boardreadyops_tenant_visible TO boardreadyops_reader;

ALTER TABLE installations ENABLE ROW LEVEL SECURITY;
ALTER TABLE repositories ENABLE ROW LEVEL SECURITY;
ALTER TABLE release_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE release_run_attempts ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON installations TO boardreadyops_app USING (true) WITH CHECK (true);
CREATE POLICY app_all ON repositories TO boardreadyops_app USING (true) WITH CHECK (true);
CREATE POLICY app_all ON release_runs TO boardreadyops_app USING (true);
CREATE POLICY app_all ON release_run_attempts TO boardreadyops_app USING (true);
CREATE POLICY reader_tenant ON installations FOR SELECT TO boardreadyops_reader USING (boardreadyops_tenant_visible(id::bigint));
CREATE POLICY reader_tenant ON repositories FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));
CREATE POLICY reader_tenant ON release_runs FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));
CREATE POLICY reader_tenant ON release_run_attempts FOR SELECT TO boardreadyops_reader
    USING (boardreadyops_tenant_visible(installation_id));

GRANT SELECT ON ALL TABLES IN SCHEMA public TO boardreadyops_app;
GRANT INSERT, UPDATE ON installations, repositories TO boardreadyops_app;
GRANT INSERT, UPDATE, DELETE ON webhook_deliveries TO boardreadyops_app;
GRANT UPDATE ON deployment_settings TO boardreadyops_app;
