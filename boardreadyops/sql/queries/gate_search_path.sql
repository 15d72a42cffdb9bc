-- For this transaction: print names of our schema unqualified, and names of any other qualified.
SELECT set_config('search_path', 'pg_catalog, public', true)
