-- Registered runners by name, newest first within one; revoked ones only if $1. Times are UTC, a list of repositories null for all.
SELECT registration.id, registration.name, registration.runner_version, registration.installation_id,
       installation.account_login,
       CASE WHEN registration.repository_ids IS NOT NULL THEN COALESCE(
           (SELECT array_agg(repository.owner || '/' || repository.name ORDER BY repository.owner, repository.name)
            FROM repositories AS repository WHERE repository.id = ANY (registration.repository_ids)), '{}')
       END AS repositories,
       registration.created_at, registration.revoked_at, work.active_leases, work.last_heartbeat_at
FROM runner_registrations AS registration
LEFT JOIN installations AS installation ON installation.id = registration.installation_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE lease.state = 'active')::integer AS active_leases,
           max(lease.heartbeat_at) AS last_heartbeat_at
    FROM runner_leases AS lease WHERE lease.registration_id = registration.id) AS work
WHERE registration.revoked_at IS NULL OR $1
ORDER BY registration.name, registration.created_at DESC, registration.id
LIMIT $2
