-- A delivery id is taken once; a repeat stores nothing and answers no row.
INSERT INTO webhook_deliveries (delivery_id, event, action, installation_id, body_sha256)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (delivery_id) DO NOTHING
RETURNING true
