-- Bytes of write-ahead log between two positions: the records, and the full-page images apart.
SELECT sum(record_size)::bigint AS record_bytes, sum(fpi_size)::bigint AS image_bytes
FROM pg_get_wal_stats($1::text::pg_lsn, $2::text::pg_lsn, false)
