-- Every privilege on functions, relations and columns of our schema that is not its owner's own; extensions apart.
WITH held AS (
    SELECT p.proname AS object, '' AS of_column, p.proowner AS owner, a.*
    FROM pg_proc AS p CROSS JOIN aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) AS a
    WHERE p.pronamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend AS d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    UNION ALL
    SELECT c.relname, '', c.relowner, a.*
    FROM pg_class AS c CROSS JOIN aclexplode(c.relacl) AS a
    WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend AS d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    UNION ALL
    SELECT c.relname, t.attname, c.relowner, a.*
    FROM pg_class AS c JOIN pg_attribute AS t ON t.attrelid = c.oid AND NOT t.attisdropped
    CROSS JOIN aclexplode(t.attacl) AS a
    WHERE c.relnamespace = 'public'::regnamespace
)
SELECT object, of_column, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END AS grantee,
       privilege_type AS privilege, is_grantable
FROM held WHERE grantee <> owner
ORDER BY object, of_column, grantee, privilege
