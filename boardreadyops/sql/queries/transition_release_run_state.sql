-- The general guarded transition; outcomes in the function's header.
SELECT transition_outcome AS outcome, run_status, run_version, attempt_status, attempt_version
FROM boardreadyops_transition_release_run_state($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9)
