-- An effect is to be tried again; outcomes in the function's header.
SELECT boardreadyops_defer_outbox($1, $2, $3, $4, NULL, $5)
