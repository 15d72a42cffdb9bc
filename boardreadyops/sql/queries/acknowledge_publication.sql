-- GitHub holds it; outcomes in the function's header.
SELECT boardreadyops_acknowledge_publication($1, $2, $3)
