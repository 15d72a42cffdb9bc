-- A tenant can be served again: its refs are looked at and what it is owed is due, at most $2 refs a call.
SELECT boardreadyops_resume_installation($1, $2)
