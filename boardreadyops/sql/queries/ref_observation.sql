-- The counter a confirm captures before it asks GitHub.
SELECT observation FROM refs WHERE repository_id = $1 AND ref = $2
