-- What GitHub has been told about a run, newest asking first.
SELECT retry_number, ordinal, check_name, check_run_id, acked_seq >= desired_seq AS published, send_count, closed_code,
       acked_at
FROM page_publications WHERE release_run_id = $1
ORDER BY retry_number DESC, ordinal DESC
LIMIT $2
