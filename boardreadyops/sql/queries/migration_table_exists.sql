-- False in a database that was never migrated.
SELECT to_regclass('public.schema_migrations') IS NOT NULL
