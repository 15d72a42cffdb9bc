-- The statements that give this database to the roles and take everything, TEMP included, from PUBLIC. The working login's
-- statements are planned once a session: each was written for one plan, and planning anew cost a claim more than all
-- its reading (docs/performance.md).
SELECT format(
    'REVOKE ALL ON DATABASE %1$I FROM PUBLIC;'
    ' GRANT CONNECT, CREATE ON DATABASE %1$I TO boardreadyops_owner;'
    ' GRANT CONNECT ON DATABASE %1$I TO boardreadyops_app, boardreadyops_reader;'
    ' REVOKE ALL ON SCHEMA public FROM PUBLIC;'
    ' GRANT USAGE ON SCHEMA public TO boardreadyops_app, boardreadyops_reader;'
    ' ALTER SCHEMA public OWNER TO boardreadyops_owner;'
    ' ALTER ROLE boardreadyops_app SET plan_cache_mode = force_generic_plan;',
    current_database())
