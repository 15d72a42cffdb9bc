-- GitHub answered a dispatch; outcomes in the function's header.
SELECT boardreadyops_acknowledge_workflow_dispatch($1, $2, $3)
