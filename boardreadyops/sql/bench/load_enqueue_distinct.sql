-- A pull request that nobody saw before.
\set turn :turn + 1
\set n :first + :client_id * :stride + :turn
\set installation 1 + :n % 100
SELECT enqueue_outcome FROM boardreadyops_enqueue_release_run_with_outbox(:installation, 100 * :installation + :n / 100 % 10, 'refs/pull/' || :n || '/head', :n::integer, md5('sha' || :n) || 'aaaaaaaa', 'main', repeat('f', 40), false, 'trusted', now());
