-- The logins read it: readiness, and the refusal to serve a schema that does not fit.
GRANT SELECT ON public.schema_migrations TO boardreadyops_app, boardreadyops_reader
