-- The deployment's defaults as this program was started with; an unchanged row is not written.
UPDATE deployment_settings SET
    approval_timeout_seconds = $1, queue_timeout_seconds = $2, start_timeout_seconds = $3, run_timeout_seconds = $4,
    lease_seconds = $5, max_execution_attempts = $6
WHERE (approval_timeout_seconds, queue_timeout_seconds, start_timeout_seconds, run_timeout_seconds, lease_seconds,
       max_execution_attempts) IS DISTINCT FROM ($1, $2, $3, $4, $5, $6)
