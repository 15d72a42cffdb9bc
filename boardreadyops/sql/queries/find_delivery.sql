-- What was answered to a delivery.
SELECT delivery_id, body_sha256, status, reason, actions FROM webhook_deliveries WHERE delivery_id = $1
