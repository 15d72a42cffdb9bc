-- One migrator per database at a time. Held by a transaction, so that PgBouncer may stand in between.
SELECT pg_advisory_xact_lock($1), set_config('idle_in_transaction_session_timeout', '0', true)
