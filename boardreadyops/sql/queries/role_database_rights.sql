-- The statements that give this database to the roles and take everything, TEMP included, from PUBLIC.
SELECT format(
    'REVOKE ALL ON DATABASE %1$I FROM PUBLIC;'
    ' GRANT CONNECT, CREATE ON DATABASE %1$I TO boardreadyops_owner;'
    ' GRANT CONNECT ON DATABASE %1$I TO boardreadyops_app, boardreadyops_reader;'
    ' REVOKE ALL ON SCHEMA public FROM PUBLIC;'
    ' GRANT USAGE ON SCHEMA public TO boardreadyops_app, boardreadyops_reader;'
    ' ALTER SCHEMA public OWNER TO boardreadyops_owner;',
    current_database())
