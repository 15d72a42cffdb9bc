-- The run that became claimable last. Another answer than before means that waiting runners should ask again.
SELECT queued_at, id FROM release_runs
WHERE status = 'queued' AND execution_backend = 'runner' AND approval <> 'waiting' AND superseded_by IS NULL
    AND queued_at <= now()
ORDER BY queued_at DESC, id DESC
LIMIT 1
