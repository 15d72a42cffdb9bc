-- Purpose: the oldest run that this runner may execute, locked; runs that another claim holds are skipped.
-- Outcomes: a run, or null when there is none.
-- Locks: the run. Writes: nothing.
-- Internal: called only by claim_runner_lease.
CREATE OR REPLACE FUNCTION boardreadyops_next_claimable_run(p_registration runner_registrations) RETURNS release_runs
LANGUAGE sql AS $$
    SELECT run.* FROM release_runs AS run
    WHERE run.status = 'queued' AND run.execution_backend = 'runner' AND run.approval <> 'waiting'
        AND run.superseded_by IS NULL
        AND (p_registration.installation_id IS NULL OR run.installation_id = p_registration.installation_id)
        AND (p_registration.repository_ids IS NULL OR run.repository_id = ANY (p_registration.repository_ids))
    ORDER BY run.queued_at, run.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
$$;
