-- Ids of the newest other runs of one ref.
SELECT id FROM page_runs WHERE repository_id = $1 AND ref = $2 AND id <> $3
ORDER BY created_at DESC, id DESC
LIMIT $4
