-- Observe a closed ref; outcomes in the function's header.
SELECT close_outcome AS outcome, cancelled_run_ids
FROM boardreadyops_close_ref($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
