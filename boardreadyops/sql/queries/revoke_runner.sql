-- A registration is void from now on; outcomes in the function's header.
SELECT boardreadyops_revoke_runner($1)
