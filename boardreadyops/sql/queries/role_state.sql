-- What the cluster knows of these roles; only the rights that they must not have.
SELECT rolname AS name,
       array_remove(ARRAY[
           CASE WHEN rolsuper THEN 'SUPERUSER' END,
           CASE WHEN rolcreatedb THEN 'CREATEDB' END,
           CASE WHEN rolcreaterole THEN 'CREATEROLE' END,
           CASE WHEN rolreplication THEN 'REPLICATION' END,
           CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
           CASE WHEN rolcanlogin AND rolname = 'boardreadyops_owner' THEN 'LOGIN' END,
           CASE WHEN NOT rolcanlogin AND rolname <> 'boardreadyops_owner' THEN 'NOLOGIN' END
       ], NULL) AS wrong_attributes
FROM pg_roles
WHERE rolname = ANY ($1::text[])
