-- Ask a run anew; outcomes in the function's header.
SELECT retry_outcome AS outcome, retry_id, retry_number FROM boardreadyops_retry_release_run($1, $2, $3)
