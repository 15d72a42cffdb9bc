-- Every trigger of our tables, those of foreign keys included, and whether it fires.
SELECT c.relname AS table_name, t.tgname AS name, t.tgisinternal AS internal, t.tgenabled IN ('O', 'A') AS enabled,
       pg_get_triggerdef(t.oid) AS definition
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE c.relnamespace = 'public'::regnamespace
ORDER BY c.relname, t.tgname
