-- The newest attempts of a run, each with the runner that had it.
SELECT id, number, retry_id, status, version, inferred, created_at, updated_at, finished_at, lease_state, stage,
       runner_name, heartbeat_at
FROM page_attempts WHERE release_run_id = $1
ORDER BY number DESC
LIMIT $2
