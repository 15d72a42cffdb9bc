-- A snapshot that keeps every row version from now on.
SELECT pg_current_snapshot(), count(*) FROM deployment_settings
