-- What the publication's words need beside its payload: the result of the attempt, the successor's commit.
SELECT result.summary, result.error_count, result.warning_count, result.details,
       successor.commit_sha AS successor_sha
FROM (SELECT $1::uuid AS execution_attempt_id, $2::uuid AS superseded_by) AS told
LEFT JOIN runner_results AS result ON result.execution_attempt_id = told.execution_attempt_id
LEFT JOIN release_runs AS successor ON successor.id = told.superseded_by
