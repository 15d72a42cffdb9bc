-- Every function in our schema or with our owner's rights, as the database would define it again; extensions apart.
SELECT n.nspname AS schema, p.proname AS name, pg_get_userbyid(p.proowner) AS owner,
       CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid) END AS definition
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE (n.nspname = 'public' OR pg_get_userbyid(p.proowner) = 'boardreadyops_owner')
    AND NOT EXISTS (SELECT FROM pg_depend AS d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
ORDER BY p.proname, p.oid
