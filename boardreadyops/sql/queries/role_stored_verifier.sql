-- The stored password verifier of one role; superusers only.
SELECT rolpassword FROM pg_authid WHERE rolname = $1
