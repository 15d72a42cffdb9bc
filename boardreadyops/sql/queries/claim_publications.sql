-- Check Runs with something to tell, leased; outcomes in the function's header.
SELECT * FROM boardreadyops_claim_publications($1, $2, $3)
