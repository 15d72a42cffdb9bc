-- A force-push storm over a thousand pull requests: a new head on a random one, which supersedes the run before.
\set turn :turn + 1
\set n :first + :client_id * :stride + :turn
\set pull random(1, 1000)
SELECT enqueue_outcome FROM boardreadyops_enqueue_release_run_with_outbox(1 + :pull % 100, 100 * (1 + :pull % 100) + :pull / 100 % 10, 'refs/pull/' || 2000000 + :pull || '/head', 2000000 + :pull::integer, md5('sha' || :n) || 'aaaaaaaa', 'main', repeat('f', 40), false, 'trusted', clock_timestamp());
