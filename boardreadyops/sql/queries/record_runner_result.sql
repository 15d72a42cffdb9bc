-- Take a runner's result; outcomes in the function's header.
SELECT result_outcome AS outcome, audit_id
FROM boardreadyops_record_runner_result($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
