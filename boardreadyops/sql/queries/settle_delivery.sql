-- Stores what a delivery led to, in the transaction that did it.
UPDATE webhook_deliveries SET status = $2, reason = $3, actions = $4 WHERE delivery_id = $1
