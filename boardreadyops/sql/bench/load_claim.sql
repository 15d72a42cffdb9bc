-- A managed runner asks for work; each client is a runner of its own.
SELECT claim_outcome FROM boardreadyops_claim_runner_lease(md5('runner' || :client_id)::uuid, gen_random_uuid(), '{kicad=9.0.8,arch=x86_64}');
