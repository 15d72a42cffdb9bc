-- Every table, view and sequence that is not a column's own in our schema, extensions apart.
SELECT c.relname AS name, c.relkind = 'v' AS is_view, pg_get_userbyid(c.relowner) AS owner,
       c.relrowsecurity AS row_security,
       COALESCE('security_invoker=true' = ANY (c.reloptions), false) AS security_invoker
FROM pg_class AS c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT FROM pg_depend AS d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname
