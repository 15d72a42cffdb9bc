-- What GitHub says about a workflow run; outcomes in the function's header.
SELECT boardreadyops_reconcile_workflow_run($1, $2, $3, $4, $5, $6)
