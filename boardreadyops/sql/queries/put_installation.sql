-- An installation event: the newest by its own time wins; an older one changes nothing and answers no row.
-- Two of one second that differ have no order, and no GitHub call may decide here. The stored one stays: a late repeat of a
-- suspension must never undo what came after it. Only a removal wins, as an installation never returns under its id.
INSERT INTO installations AS stored (id, account_login, account_id, suspended, removed, observed_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET
    account_login = excluded.account_login,
    account_id = COALESCE(excluded.account_id, stored.account_id),
    suspended = excluded.suspended,
    removed = excluded.removed,
    observed_at = excluded.observed_at
WHERE stored.observed_at IS NULL OR stored.observed_at < excluded.observed_at
    OR stored.observed_at = excluded.observed_at AND (excluded.removed AND NOT stored.removed
        OR (stored.suspended, stored.removed) = (excluded.suspended, excluded.removed))
RETURNING true
