-- Cancel open runs of an installation, at most $3.
SELECT boardreadyops_cancel_installation_runs($1, $2, $3)
