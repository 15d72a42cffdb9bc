-- Every policy of our tables, as a statement for the gate's grammar to read; nobody runs it.
SELECT c.relname AS table_name, p.polname AS name,
       format('CREATE POLICY %I ON %I AS %s FOR %s TO %s', p.polname, c.relname,
              CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
              CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                            WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
              (SELECT string_agg(CASE WHEN role = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END, ', ')
               FROM unnest(p.polroles) AS role))
       || COALESCE(' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
       || COALESCE(' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '') AS definition
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
WHERE c.relnamespace = 'public'::regnamespace
ORDER BY c.relname, p.polname
