-- End runs whose clock ran out; outcomes in the function's header.
SELECT release_run_id, reason_code FROM boardreadyops_sweep_deadlines($1, $2)
