-- Where the write-ahead log ends, to measure what is written in between.
SELECT pg_current_wal_insert_lsn()::text
