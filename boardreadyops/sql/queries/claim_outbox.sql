-- One-shot effects that are due, leased; outcomes in the function's header.
SELECT * FROM boardreadyops_claim_outbox($1, $2)
