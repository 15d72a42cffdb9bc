-- Runs by id with all that their one-line answer needs: stage, runner, result and successor. In no order.
SELECT run.id, run.repository_id, run.repository_owner, run.repository_name, run.ref, run.pull_request_number,
       run.commit_sha, run.base_sha, run.status, run.version, run.decision, run.reason_code, run.execution_attempt_id,
       run.trust_mode, run.approval, run.retry_id, run.retry_number, run.superseded_by, run.cancelled_by, run.due_at,
       run.created_at, run.queued_at, run.updated_at, run.finished_at, run.needs,
       CASE WHEN attempt.lease_state = 'active' THEN attempt.stage END AS stage,
       CASE WHEN attempt.lease_state = 'active' THEN attempt.progress END AS progress,
       CASE WHEN attempt.lease_state = 'active' THEN attempt.message END AS message,
       attempt.number AS attempt_number, attempt.runner_name, attempt.heartbeat_at,
       result.summary, result.error_count, result.warning_count, successor.commit_sha AS successor_sha
FROM page_runs AS run
LEFT JOIN page_attempts AS attempt ON attempt.id = run.execution_attempt_id
LEFT JOIN page_results AS result ON result.execution_attempt_id = run.execution_attempt_id
LEFT JOIN page_runs AS successor ON successor.id = run.superseded_by
WHERE run.id = ANY ($1::uuid[])
