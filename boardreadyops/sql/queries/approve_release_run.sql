-- Let a fork's run go ahead; outcomes in the function's header.
SELECT boardreadyops_approve_release_run($1, $2, $3)
