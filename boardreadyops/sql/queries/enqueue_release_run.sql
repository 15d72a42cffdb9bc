-- Observe an open ref; outcomes in the function's header.
SELECT enqueue_outcome AS outcome, release_run_id, confirm_requested
FROM boardreadyops_enqueue_release_run_with_outbox($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
