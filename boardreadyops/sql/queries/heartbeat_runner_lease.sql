-- A sign of life; outcomes in the function's header.
SELECT lease_state, directive, reason, expires_in_seconds, maximum_expires_in_seconds
FROM boardreadyops_heartbeat_runner_lease($1, $2, $3, $4)
