-- Rows that stay: everything a lifecycle call could append.
SELECT (SELECT count(*) FROM release_runs) + (SELECT count(*) FROM release_run_attempts)
     + (SELECT count(*) FROM release_run_transition_events) + (SELECT count(*) FROM publications)
     + (SELECT count(*) FROM runner_leases) + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM runner_result_audit)
     + (SELECT count(*) FROM reconciliation_findings)
