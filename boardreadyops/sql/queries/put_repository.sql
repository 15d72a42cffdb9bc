-- A repository as an event names it; it moves to no other installation by being mentioned.
INSERT INTO repositories AS stored (id, installation_id, owner, name, private, default_branch)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner,
    name = excluded.name,
    private = excluded.private,
    default_branch = COALESCE(excluded.default_branch, stored.default_branch)
WHERE stored.installation_id = excluded.installation_id
    AND (stored.owner, stored.name, stored.private, stored.default_branch) IS DISTINCT FROM
        (excluded.owner, excluded.name, excluded.private, COALESCE(excluded.default_branch, stored.default_branch))
