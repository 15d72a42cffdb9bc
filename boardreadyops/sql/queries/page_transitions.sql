-- The newest lifecycle events of a run, and nothing of them beyond what the timeline may show.
SELECT entity_type, execution_attempt_id, from_status, to_status, from_version, to_version, reason_code, occurred_at
FROM page_transitions WHERE release_run_id = $1
ORDER BY id DESC
LIMIT $2
