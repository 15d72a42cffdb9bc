-- What the current attempt's result says beside its summary: findings, checks, versions.
SELECT details FROM page_results WHERE execution_attempt_id = $1
