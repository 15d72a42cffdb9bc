-- It could not be sent now; outcomes in the function's header.
SELECT boardreadyops_defer_publication($1, $2, $3, $4, $5, NULL, $6)
