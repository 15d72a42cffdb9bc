-- A new commit of one pull request, over and over: each supersedes the last, all of them wait for one lock. No two of the
-- eight clients observe at the same microsecond, which only GitHub could put in order.
\set turn :turn + 1
\set n :first + :client_id * :stride + :turn
SELECT enqueue_outcome FROM boardreadyops_enqueue_release_run_with_outbox(1, 100, 'refs/pull/1/head', 1, md5('sha' || :n) || 'aaaaaaaa', 'main', repeat('f', 40), false, 'trusted', date_bin('8 microseconds', clock_timestamp(), 'epoch') + :client_id * interval '1 microsecond');
