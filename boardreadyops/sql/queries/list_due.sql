-- What a sweep would take now, oldest first.
SELECT boardreadyops_list_due($1, $2)
