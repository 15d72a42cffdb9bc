-- A branch, tag or merge-queue ref was pushed; outcomes in the function's header.
SELECT enqueue_outcome AS outcome, release_run_id FROM boardreadyops_enqueue_pushed_ref($1, $2, $3, $4, $5, $6)
