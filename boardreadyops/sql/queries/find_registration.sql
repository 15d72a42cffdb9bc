-- The runner that a token digest belongs to, revoked ones included.
SELECT id, installation_id, name, revoked_at IS NOT NULL AS revoked FROM runner_registrations WHERE token_digest = $1
