-- Events ever appended.
SELECT count(*) FROM release_run_transition_events
