-- One fresh workflow run per turn, driven as far as the general transition goes: six guarded moves, six commits.
\set turn :turn + 1
\set n :first + :client_id * :stride + :turn
SELECT transition_outcome FROM boardreadyops_transition_release_run_state(md5('run' || :n)::uuid, 'queued', 0, md5('attempt' || :n)::uuid, NULL, 'check_run_created', NULL, 'queued', 0, 'dispatching');
SELECT transition_outcome FROM boardreadyops_transition_release_run_state(md5('run' || :n)::uuid, 'queued', 0, md5('attempt' || :n)::uuid, 'dispatched', 'workflow_dispatched', NULL, 'dispatching', 1, 'dispatched');
SELECT transition_outcome FROM boardreadyops_transition_release_run_state(md5('run' || :n)::uuid, 'dispatched', 1, md5('attempt' || :n)::uuid, 'running', 'workflow_reconciled', NULL, 'dispatched', 2, 'in_progress');
SELECT transition_outcome FROM boardreadyops_transition_release_run_state(md5('run' || :n)::uuid, 'running', 2, md5('attempt' || :n)::uuid, NULL, 'runner_lease_heartbeat', NULL, 'in_progress', 3, 'uploading_artifacts');
SELECT transition_outcome FROM boardreadyops_transition_release_run_state(md5('run' || :n)::uuid, 'running', 2, md5('attempt' || :n)::uuid, NULL, 'runner_lease_heartbeat', NULL, 'uploading_artifacts', 4, 'reporting');
SELECT transition_outcome FROM boardreadyops_transition_release_run_state(md5('run' || :n)::uuid, 'running', 2, md5('attempt' || :n)::uuid, 'failed', 'runner_result_failed', NULL, 'reporting', 5, 'failed');
