-- Leases that are held now.
SELECT count(*) FROM runner_leases WHERE state = 'active'
