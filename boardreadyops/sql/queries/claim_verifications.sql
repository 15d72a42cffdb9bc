-- Check Runs that are due to be read back; outcomes in the function's header.
SELECT * FROM boardreadyops_claim_verifications($1, $2)
