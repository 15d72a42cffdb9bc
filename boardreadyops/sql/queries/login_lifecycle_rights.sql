-- Everything that makes the current login too strong to serve; no rows when it is a plain working login.
SELECT 'is superuser' AS reason FROM pg_roles WHERE rolname = current_user AND rolsuper
UNION ALL
SELECT 'may create roles' FROM pg_roles WHERE rolname = current_user AND rolcreaterole
UNION ALL
SELECT 'may act as boardreadyops_owner' FROM pg_roles
WHERE rolname = 'boardreadyops_owner' AND pg_has_role(current_user, oid, 'MEMBER')
UNION ALL
SELECT 'owns the database' FROM pg_database
WHERE datname = current_database() AND pg_has_role(current_user, datdba, 'MEMBER')
UNION ALL
SELECT 'may ' || privilege || ' on ' || c.relname
FROM pg_class AS c
CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
WHERE c.relnamespace = 'public'::regnamespace
  AND c.relname = ANY($1::text[])
  AND (has_table_privilege(c.oid, privilege)
       OR privilege IN ('INSERT', 'UPDATE') AND has_any_column_privilege(c.oid, privilege))
