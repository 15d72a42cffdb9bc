-- A lease's way to the end, stage by stage: four beats that each tell a later stage.
\set turn :turn + 1
\set n :first + :client_id * :stride + :turn
SELECT directive FROM boardreadyops_heartbeat_runner_lease(md5('lease' || :n)::uuid, 'preparing_source', 10, '');
SELECT directive FROM boardreadyops_heartbeat_runner_lease(md5('lease' || :n)::uuid, 'running', 20, '');
SELECT directive FROM boardreadyops_heartbeat_runner_lease(md5('lease' || :n)::uuid, 'uploading_artifacts', 80, '');
SELECT directive FROM boardreadyops_heartbeat_runner_lease(md5('lease' || :n)::uuid, 'reporting', 90, '');
