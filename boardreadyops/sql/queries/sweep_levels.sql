-- Apply the level rule to one ref that is due for it; outcomes in the function's header.
SELECT release_run_id, level_outcome AS outcome FROM boardreadyops_sweep_levels($1, NULL, $2)
