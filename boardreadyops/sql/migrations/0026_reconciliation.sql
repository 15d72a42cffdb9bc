-- 0026 workflow reconciliation: what a comparison with GitHub found, kept until it is settled.

CREATE TABLE reconciliation_findings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation_id bigint NOT NULL,
    repository_id bigint NOT NULL REFERENCES repositories (id),
    release_run_id uuid REFERENCES release_runs (id),
    execution_attempt_id uuid REFERENCES release_run_attempts (id),
    outcome_code text NOT NULL CHECK (outcome_code ~ '^[a-z0-9]+([._-][a-z0-9]+)*$' AND length(outcome_code) <= 128),
    found_at timestamptz NOT NULL,
    next_check_at timestamptz,
    settled_at timestamptz,
    CONSTRAINT unsettled_is_due CHECK ((settled_at IS NULL) = (next_check_at IS NOT NULL))
);
CREATE INDEX reconciliation_findings_due ON reconciliation_findings (next_check_at) WHERE settled_at IS NULL;
CREATE INDEX reconciliation_findings_by_run ON reconciliation_findings (release_run_id, id);
ALTER TABLE reconciliation_findings ENABLE ROW LEVEL SECURITY;
CREATE POLICY app_all ON reconciliation_findings FOR SELECT TO boardreadyops_app USING (true);
GRANT SELECT ON reconciliation_findings TO boardreadyops_app;
