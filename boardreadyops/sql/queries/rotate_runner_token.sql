-- A registration answers to a new token from now on; outcomes in the function's header.
SELECT boardreadyops_rotate_runner_token($1, $2)
