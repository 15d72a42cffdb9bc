-- Everything applied so far, oldest first.
SELECT version, name, sha256 FROM public.schema_migrations ORDER BY version
