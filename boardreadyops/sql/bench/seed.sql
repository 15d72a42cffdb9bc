-- Rows for measurements, inserted behind the guarded functions: the one file that may, and never in a served database.
-- Each section is run by its name from bench/seed.py; how much it inserts are settings of the session.

--! section seed_settings
-- How much the seed_*.sql files insert: read by them with current_setting, so that no text is put together.
SELECT set_config('bench.finished', $1, false), set_config('bench.queued', $2, false),
       set_config('bench.installations', $3, false), set_config('bench.first', $4, false),
       set_config('bench.stage', $5, false), set_config('bench.dead', $6, false);

--! section seed_world
-- Installations 1…n with ten repositories each (100 × installation + 0…9), and 64 managed runners.
INSERT INTO installations (id, account_login, account_id)
SELECT id, 'account-' || id, id FROM generate_series(1, current_setting('bench.installations')::bigint) AS id;
INSERT INTO repositories (id, installation_id, owner, name)
SELECT installation.id * 100 + position, installation.id, installation.account_login, 'board-' || position
FROM installations AS installation, generate_series(0, 9) AS position;
INSERT INTO runner_registrations (id, name, runner_version, token_digest, created_at)
SELECT md5('runner' || n)::uuid, 'runner-' || n, '1', sha256(n::text::bytea), now() FROM generate_series(0, 63) AS n;

--! section seed_begin
-- Before rows come by the million: no triggers (the rows are true by construction) and no upkeep of indexes, which
-- seed_end.sql builds once. Superuser only, on a server of our own.
SET session_replication_role = replica;
SET maintenance_work_mem = '512MB';
UPDATE pg_index SET indisready = false WHERE indrelid IN (
    'release_runs'::regclass, 'release_run_attempts'::regclass, 'release_run_transition_events'::regclass,
    'publications'::regclass, 'refs'::regclass, 'runner_leases'::regclass);

--! section seed_rows
-- This session inserts rows that are true by construction: no foreign keys are looked up. Superuser only.
SET session_replication_role = replica;

--! section seed_runs
-- Runs n = first … first + finished - 1 completed, twenty commits to a ref; the next ones queued, each on a ref of its own.
-- Ids are md5('run' || n): known to the load, and spread over the index as random ones are.
INSERT INTO release_runs (
    id, installation_id, repository_id, ref, pull_request_number, commit_sha, base_sha, status, version, decision,
    execution_attempt_id, trust_mode, reason_code, due_at, created_at, queued_at, updated_at, finished_at, event_hash)
SELECT md5('run' || n)::uuid, 1 + n % installations, 100 * (1 + n % installations) + n / installations % 10,
       'refs/pull/' || pull || '/head', pull, md5('sha' || n) || 'aaaaaaaa', repeat('f', 40),
       CASE WHEN finished THEN 'completed' ELSE 'queued' END, CASE WHEN finished THEN 2 ELSE 0 END,
       CASE WHEN finished THEN 'pass' END, CASE WHEN finished THEN md5('attempt' || n)::uuid END, 'trusted',
       CASE WHEN finished THEN 'runner_result_completed' END, CASE WHEN NOT finished THEN at + interval '30 days' END,
       at, at, at, CASE WHEN finished THEN at END, CASE WHEN finished THEN sha256(n::text::bytea) ELSE '' END
FROM (
    SELECT n, installations, n < settings.first + settings.finished AS finished,
           (CASE WHEN n < settings.first + settings.finished THEN n / installations / 200 * 10 + n / installations % 10
                 ELSE n END)::integer + 1 AS pull,
           now() - interval '20 days' + n * interval '0.5 seconds' AS at
    FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
                 current_setting('bench.queued')::bigint AS queued,
                 current_setting('bench.installations')::bigint AS installations) AS settings,
         generate_series(settings.first, settings.first + settings.finished + settings.queued - 1) AS n
) AS run;
INSERT INTO refs (repository_id, installation_id, ref, pull_request_number, open, draft, base_ref, base_sha, head_sha,
                  observed_at, release_run_id, trust_mode)
SELECT 100 * (1 + n % installations) + n / installations % 10, 1 + n % installations, 'refs/pull/' || pull || '/head',
       pull, true, false, 'main', repeat('f', 40), md5('sha' || n) || 'aaaaaaaa',
       now() - interval '20 days' + n * interval '0.5 seconds', md5('run' || n)::uuid, 'trusted'
FROM (
    SELECT n, installations,
           (CASE WHEN n < settings.first + settings.finished THEN n / installations / 200 * 10 + n / installations % 10
                 ELSE n END)::integer + 1 AS pull
    FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
                 current_setting('bench.queued')::bigint AS queued,
                 current_setting('bench.installations')::bigint AS installations) AS settings,
         generate_series(settings.first, settings.first + settings.finished + settings.queued - 1) AS n
    WHERE n >= settings.first + settings.finished OR n / installations % 200 >= 190
) AS head;

--! section seed_attempts
-- What finished runs leave behind: an attempt each; the newest quarter also its events, as retention drops the older ones.
INSERT INTO release_run_attempts (id, installation_id, repository_id, release_run_id, number, retry_id, status, version,
                                  created_at, updated_at, finished_at)
SELECT md5('attempt' || n)::uuid, 1 + n % installations, 100 * (1 + n % installations) + n / installations % 10,
       md5('run' || n)::uuid, 1, md5('retry' || n)::uuid, 'completed', 1, now(), now(), now()
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.installations')::bigint AS installations) AS settings,
     generate_series(first, first + finished - 1) AS n;
INSERT INTO release_run_transition_events (
    installation_id, repository_id, release_run_id, execution_attempt_id, entity_type, from_status, to_status,
    from_version, to_version, reason_code, occurred_at, hash)
SELECT 1 + n % installations, 100 * (1 + n % installations) + n / installations % 10, md5('run' || n)::uuid,
       md5('attempt' || n)::uuid, edge.entity_type, edge.from_status, edge.to_status, edge.from_version,
       edge.from_version + 1, edge.reason_code, now(), sha256(n::text::bytea)
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.installations')::bigint AS installations) AS settings,
     generate_series(first + finished * 3 / 4, first + finished - 1) AS n,
     (VALUES ('release_run', 'queued', 'running', 0, 'runner_lease_claimed'),
             ('execution_attempt', 'in_progress', 'completed', 0, 'runner_result_completed'),
             ('release_run', 'running', 'completed', 1, 'runner_result_completed'))
         AS edge (entity_type, from_status, to_status, from_version, reason_code);

--! section seed_publications
-- One Check Run per run, all told, so nothing is due. And the ended leases of the newest quarter of
-- the finished runs.
INSERT INTO publications (
    installation_id, repository_id, release_run_id, retry_id, retry_number, commit_sha, check_name, external_id, payload,
    desired_seq, acked_seq, check_run_id, available_at, created_at)
SELECT 1 + n % installations, 100 * (1 + n % installations) + n / installations % 10, md5('run' || n)::uuid,
       md5('retry' || n)::uuid, 0, md5('sha' || n) || 'aaaaaaaa', 'BoardReadyOps', md5('run' || n)::uuid || ':0:0',
       jsonb_build_object('status', CASE WHEN n < first + finished THEN 'completed' ELSE 'queued' END,
                          'queued_at', now(), 'decision', 'pass'),
       3, 3, n + 1, now(), now()
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.queued')::bigint AS queued,
             current_setting('bench.installations')::bigint AS installations) AS settings,
     generate_series(first, first + finished + queued - 1) AS n;
INSERT INTO runner_leases (
    id, installation_id, registration_id, request_id, release_run_id, execution_attempt_id, retry_id, state, stage,
    expected_run_status, expected_run_version, expected_attempt_status, expected_attempt_version, lease_seconds,
    claimed_at, heartbeat_at, expires_at, maximum_expires_at, next_check_at, ended_at)
SELECT md5('lease' || n)::uuid, 1 + n % installations, md5('runner' || n % 64)::uuid, md5('request' || n)::uuid,
       md5('run' || n)::uuid, md5('attempt' || n)::uuid, md5('retry' || n)::uuid, 'completed', 'reporting', 'completed', 2,
       'completed', 1, 120, now(), now(), now(), now(), now(), now()
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.installations')::bigint AS installations) AS settings,
     generate_series(first + finished * 3 / 4, first + finished - 1) AS n;

--! section seed_end
-- After the rows: indexes back, then built, then statistics, so that plans are those of a database that grew.
UPDATE pg_index SET indisready = true WHERE NOT indisready;
SET session_replication_role = origin;
SET maintenance_work_mem = '512MB';
REINDEX TABLE release_runs;
REINDEX TABLE release_run_attempts;
REINDEX TABLE release_run_transition_events;
REINDEX TABLE publications;
REINDEX TABLE refs;
REINDEX TABLE runner_leases;
ANALYZE release_runs, release_run_attempts, release_run_transition_events, publications, refs, runner_leases;

--! section seed_statistics
-- Plans as those of a database that was looked after.
VACUUM ANALYZE release_runs, release_run_attempts, runner_leases, publications;

--! section seed_workflow_runs
-- The queued runs become workflow runs with their planned attempt, for the general transition to drive.
UPDATE release_runs SET execution_backend = 'actions' WHERE status = 'queued';
INSERT INTO release_run_attempts (id, installation_id, repository_id, release_run_id, number, retry_id, status,
                                  created_at, updated_at)
SELECT md5('attempt' || n)::uuid, run.installation_id, run.repository_id, run.id, 1, run.retry_id, 'queued', now(), now()
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.queued')::bigint AS queued) AS settings,
     generate_series(first + finished, first + finished + queued - 1) AS n,
     LATERAL (SELECT * FROM release_runs WHERE id = md5('run' || n)::uuid) AS run;
UPDATE release_runs AS run SET execution_attempt_id = attempt.id
FROM release_run_attempts AS attempt WHERE attempt.release_run_id = run.id AND run.status = 'queued';

--! section seed_leases
-- The queued runs are claimed: each running, with an attempt and a live lease whose id is md5('lease' || n).
INSERT INTO release_run_attempts (id, installation_id, repository_id, release_run_id, number, retry_id, status,
                                  created_at, updated_at)
SELECT md5('attempt' || n)::uuid, run.installation_id, run.repository_id, run.id, 1, run.retry_id, 'in_progress', now(), now()
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.queued')::bigint AS queued) AS settings,
     generate_series(first + finished, first + finished + queued - 1) AS n,
     LATERAL (SELECT * FROM release_runs WHERE id = md5('run' || n)::uuid) AS run;
UPDATE release_runs AS run SET status = 'running', version = 1, execution_attempt_id = attempt.id
FROM release_run_attempts AS attempt WHERE attempt.release_run_id = run.id AND run.status = 'queued';
INSERT INTO runner_leases (
    id, installation_id, registration_id, request_id, release_run_id, execution_attempt_id, retry_id, stage,
    expected_run_status, expected_run_version, expected_attempt_status, expected_attempt_version, lease_seconds,
    claimed_at, heartbeat_at, expires_at, maximum_expires_at, next_check_at)
SELECT md5('lease' || n)::uuid, run.installation_id, md5('runner' || n % 64)::uuid, md5('request' || n)::uuid, run.id,
       run.execution_attempt_id, run.retry_id, current_setting('bench.stage'), 'running', 1, 'in_progress', 0, 120, now(),
       now(), now() + interval '2 minutes', now() + interval '90 minutes', now() + interval '2 minutes'
FROM (SELECT current_setting('bench.first')::bigint AS first, current_setting('bench.finished')::bigint AS finished,
             current_setting('bench.queued')::bigint AS queued) AS settings,
     generate_series(first + finished, first + finished + queued - 1) AS n,
     LATERAL (SELECT * FROM release_runs WHERE id = md5('run' || n)::uuid) AS run;

--! section seed_dead_entries
-- What ten minutes of claims leave at the head of each queue while an older transaction sees everything: the oldest
-- bench.dead queued runs start and end. Their old row versions and index entries can go only when that transaction has.
WITH oldest AS (
    SELECT id FROM release_runs WHERE status = 'queued' ORDER BY queued_at
    LIMIT current_setting('bench.dead')::bigint
), started AS (
    UPDATE release_runs SET status = 'running', version = version + 1
    FROM oldest WHERE release_runs.id = oldest.id RETURNING release_runs.id
)
SELECT count(*) FROM started;
