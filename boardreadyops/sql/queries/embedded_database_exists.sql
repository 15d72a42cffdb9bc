-- Whether our database is there already.
SELECT EXISTS (SELECT FROM pg_database WHERE datname = 'boardreadyops')
