-- Mark a dispatch as started before its one POST; outcomes in the function's header.
SELECT dispatch_outcome AS outcome, release_run_id, execution_attempt_id, commit_sha, started_at
FROM boardreadyops_begin_workflow_dispatch($1, $2)
