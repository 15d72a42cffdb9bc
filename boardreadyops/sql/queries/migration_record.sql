-- Written before the migration's own statements run: two migrators cannot both get past it.
INSERT INTO public.schema_migrations (version, name, sha256) VALUES ($1, $2, $3)
