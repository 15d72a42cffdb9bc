-- For this transaction: act as the owner, and resolve names in one schema only.
SELECT set_config('role', 'boardreadyops_owner', true), set_config('search_path', 'public, pg_temp', true)
