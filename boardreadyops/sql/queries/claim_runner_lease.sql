-- Hand a run to a runner; outcomes in the function's header.
SELECT claim_outcome AS outcome, lease_id FROM boardreadyops_claim_runner_lease($1, $2, $3)
