-- Ids of runs from newest to oldest, those before ($8, $9) only; null filters let everything through.
SELECT id FROM page_runs
WHERE ($1::text IS NULL OR lower(repository_owner || '/' || repository_name) = lower($1))
    AND ($2::text IS NULL OR ref = $2)
    AND ($3::integer IS NULL OR pull_request_number = $3)
    AND ($4::text IS NULL OR starts_with(commit_sha, $4))
    AND ($5::text IS NULL OR status = $5)
    AND ($6::text IS NULL OR decision = $6)
    AND ($7::timestamptz IS NULL OR created_at >= $7)
    AND (created_at, id) < (COALESCE($8::timestamptz, 'infinity'), COALESCE($9::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
ORDER BY created_at DESC, id DESC
LIMIT $10
