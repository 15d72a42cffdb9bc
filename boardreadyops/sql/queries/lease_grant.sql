-- What a runner is told about the lease it was given. Seconds are left at the database's clock.
SELECT lease.id AS lease_id, lease.release_run_id, lease.execution_attempt_id, lease.retry_id, run.retry_number,
       lease.registration_id, lease.state, lease.lease_seconds, run.installation_id,
       repository.id AS repository_id, repository.owner AS repository_owner, repository.name AS repository_name,
       repository.private AS repository_private, run.ref, run.pull_request_number, run.commit_sha, run.base_sha,
       run.trust_mode,
       GREATEST(0, floor(extract(epoch FROM lease.expires_at - clock_timestamp())))::integer AS expires_in_seconds,
       GREATEST(0, floor(extract(epoch FROM lease.maximum_expires_at - clock_timestamp())))::integer
           AS maximum_expires_in_seconds
FROM runner_leases AS lease
JOIN release_runs AS run ON run.id = lease.release_run_id
JOIN repositories AS repository ON repository.id = run.repository_id
WHERE lease.id = $1
