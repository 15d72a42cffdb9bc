-- A sign of life that tells nothing new but the percent.
\set n random(0, 7999)
\set percent random(0, 100)
SELECT directive FROM boardreadyops_heartbeat_runner_lease(md5('lease' || :n)::uuid, 'running', :percent, 'checking the board');
