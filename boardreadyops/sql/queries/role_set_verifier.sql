-- The statement that sets a verifier (never a password): ALTER ROLE takes no parameters, so the server quotes.
SELECT format('ALTER ROLE %I PASSWORD %L', $1::text, $2::text)
