-- Whether this database already is as the roles need it: PUBLIC has nothing, the owner owns the schema, and the working
-- login's plans are made once a session.
SELECT NOT EXISTS (SELECT FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS a WHERE a.grantee = 0)
       AND NOT EXISTS (SELECT FROM aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a WHERE a.grantee = 0)
       AND has_database_privilege('boardreadyops_owner', d.oid, 'CREATE')
       AND has_database_privilege('boardreadyops_app', d.oid, 'CONNECT')
       AND has_database_privilege('boardreadyops_reader', d.oid, 'CONNECT')
       AND has_schema_privilege('boardreadyops_app', n.oid, 'USAGE')
       AND has_schema_privilege('boardreadyops_reader', n.oid, 'USAGE')
       AND n.nspowner = 'boardreadyops_owner'::regrole
       AND EXISTS (SELECT FROM pg_db_role_setting AS s WHERE s.setrole = 'boardreadyops_app'::regrole
                   AND s.setdatabase = 0 AND 'plan_cache_mode=force_generic_plan' = ANY (s.setconfig))
FROM pg_database AS d, pg_namespace AS n
WHERE d.datname = current_database() AND n.nspname = 'public'
