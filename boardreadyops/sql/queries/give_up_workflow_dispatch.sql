-- A dispatch was refused or stayed silent; outcomes in the function's header.
SELECT boardreadyops_give_up_workflow_dispatch($1, $2, $3)
