-- Owner of all tables and functions; nobody logs in as it.
CREATE ROLE boardreadyops_owner NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
