-- Let the migrating login act as the owner; a superuser needs no grant.
GRANT boardreadyops_owner TO CURRENT_USER
