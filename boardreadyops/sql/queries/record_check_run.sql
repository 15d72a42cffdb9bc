-- Store the Check Run's id; outcomes in the function's header.
SELECT boardreadyops_record_check_run($1, $2, $3)
