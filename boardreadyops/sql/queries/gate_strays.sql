-- Other ways around the functions: rules, event triggers, rights of the schema, defaults and logins. No rows is good.
SELECT 'rule ' || r.rulename || ' on ' || c.relname || ': drop it' AS says
FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
WHERE c.relnamespace = 'public'::regnamespace AND r.rulename <> '_RETURN'
UNION ALL
SELECT 'event trigger ' || e.evtname || ': drop it, or disable it' FROM pg_event_trigger AS e
WHERE e.evtenabled <> 'D' AND NOT EXISTS (SELECT FROM pg_depend AS d
    WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = e.oid AND d.deptype = 'e')
UNION ALL
SELECT a.privilege_type || ' on schema public to '
       || CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee) END || ': revoke it'
FROM pg_namespace AS n CROSS JOIN aclexplode(COALESCE(n.nspacl, acldefault('n', n.nspowner))) AS a
WHERE n.nspname = 'public' AND a.grantee <> n.nspowner AND NOT (a.privilege_type = 'USAGE' AND a.grantee <> 0)
UNION ALL
SELECT 'schema public belongs to ' || pg_get_userbyid(n.nspowner) || ': run `boardreadyops migrate`'
FROM pg_namespace AS n WHERE n.nspname = 'public' AND pg_get_userbyid(n.nspowner) <> 'boardreadyops_owner'
UNION ALL
SELECT a.privilege_type || ' on the database to PUBLIC: run `boardreadyops migrate`'
FROM pg_database AS b CROSS JOIN aclexplode(COALESCE(b.datacl, acldefault('d', b.datdba))) AS a
WHERE b.datname = current_database() AND a.grantee = 0
UNION ALL
SELECT 'default privileges of ' || pg_get_userbyid(f.defaclrole) || ' grant ' || a.privilege_type || ': revoke them'
FROM pg_default_acl AS f CROSS JOIN aclexplode(f.defaclacl) AS a
WHERE pg_get_userbyid(f.defaclrole) = 'boardreadyops_owner' AND a.grantee <> f.defaclrole
UNION ALL
SELECT 'new functions of boardreadyops_owner are executable by PUBLIC: alter its default privileges'
WHERE NOT EXISTS (SELECT FROM pg_default_acl WHERE pg_get_userbyid(defaclrole) = 'boardreadyops_owner'
    AND defaclnamespace = 0 AND defaclobjtype = 'f')
UNION ALL
SELECT m.rolname || ' may act as ' || g.rolname || ': revoke it'
FROM pg_auth_members AS held JOIN pg_roles AS m ON m.oid = held.member JOIN pg_roles AS g ON g.oid = held.roleid
WHERE m.rolname IN ('boardreadyops_app', 'boardreadyops_reader', 'boardreadyops_owner')
UNION ALL
SELECT rolname || ' is superuser, creates roles or passes row-level security: alter it'
FROM pg_roles WHERE rolname IN ('boardreadyops_app', 'boardreadyops_reader', 'boardreadyops_owner')
    AND (rolsuper OR rolcreaterole OR rolbypassrls OR rolreplication)
UNION ALL
SELECT 'setting ' || split_part(setting, '=', 1) || ' of a role or database: reset it'
FROM pg_db_role_setting AS s CROSS JOIN unnest(s.setconfig) AS setting
WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND split_part(setting, '=', 1) IN ('session_replication_role', 'role')
