-- A runner gives its run back; outcomes in the function's header.
SELECT boardreadyops_relinquish_runner_lease($1, $2, $3, $4)
