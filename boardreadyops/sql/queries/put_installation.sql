-- An installation event: the newest by its own time wins; an older one changes nothing and answers no row.
INSERT INTO installations AS stored (id, account_login, account_id, suspended, removed, observed_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET
    account_login = excluded.account_login,
    account_id = COALESCE(excluded.account_id, stored.account_id),
    suspended = excluded.suspended,
    removed = excluded.removed,
    observed_at = excluded.observed_at
WHERE stored.observed_at IS NULL OR stored.observed_at <= excluded.observed_at
RETURNING true
