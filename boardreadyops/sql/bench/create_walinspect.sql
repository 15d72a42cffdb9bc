-- Reads write-ahead log records; comes with PostgreSQL.
CREATE EXTENSION IF NOT EXISTS pg_walinspect
