-- Take back leases of silent runners; outcomes in the function's header.
SELECT lease_id, expiry_outcome AS outcome FROM boardreadyops_expire_runner_leases($1, $2)
