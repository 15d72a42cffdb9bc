-- Runs ever made.
SELECT count(*) FROM release_runs
