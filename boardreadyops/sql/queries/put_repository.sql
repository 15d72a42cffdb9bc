-- A repository as an event of this time names it; an older event renames nothing, and none moves it to another installation.
INSERT INTO repositories AS stored (id, installation_id, owner, name, private, default_branch, observed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner,
    name = excluded.name,
    private = excluded.private,
    default_branch = COALESCE(excluded.default_branch, stored.default_branch),
    observed_at = excluded.observed_at
WHERE stored.installation_id = excluded.installation_id AND stored.observed_at <= excluded.observed_at
    AND (stored.owner, stored.name, stored.private, stored.default_branch) IS DISTINCT FROM
        (excluded.owner, excluded.name, excluded.private, COALESCE(excluded.default_branch, stored.default_branch))
