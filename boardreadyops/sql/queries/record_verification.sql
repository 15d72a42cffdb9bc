-- What a read-back found; outcomes in the function's header.
SELECT boardreadyops_record_verification($1, $2, $3)
