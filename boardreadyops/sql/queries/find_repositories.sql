-- Repositories by owner/name, case-insensitively as GitHub compares them.
SELECT id, installation_id, owner, name FROM repositories
WHERE lower(owner || '/' || name) = ANY (SELECT lower(wanted) FROM unnest($1::text[]) AS wanted)
