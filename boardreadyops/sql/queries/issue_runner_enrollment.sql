-- Let one runner register; outcomes in the function's header.
SELECT enrollment_outcome AS outcome, expires_at FROM boardreadyops_issue_runner_enrollment($1, $2, $3, $4, $5)
