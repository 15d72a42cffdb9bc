-- Whether this login may read stored verifiers.
SELECT rolsuper FROM pg_roles WHERE rolname = current_user
