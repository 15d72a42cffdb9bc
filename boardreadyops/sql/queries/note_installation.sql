-- An installation that an event merely mentions: known from now on, never altered by it.
INSERT INTO installations (id, account_login, account_id) VALUES ($1, $2, $3)
ON CONFLICT (id) DO NOTHING
