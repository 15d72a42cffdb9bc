-- An effect is done; outcomes in the function's header.
SELECT boardreadyops_settle_outbox($1, $2, $3)
