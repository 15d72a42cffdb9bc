-- Cancel one run; outcomes in the function's header.
SELECT cancel_outcome AS outcome, run_status, run_version FROM boardreadyops_cancel_release_run($1, $2, $3, $4)
