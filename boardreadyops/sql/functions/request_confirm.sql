-- Purpose: asks the relay to look at the pull request, branch or tag on GitHub, once however often it is asked before it looked.
-- Outcomes: at most one open request per ref.
-- Locks: outbox. Writes: outbox.
-- Internal: called only by guarded functions, which hold the ref.
CREATE OR REPLACE FUNCTION boardreadyops_request_confirm(p_ref refs, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO outbox (kind, installation_id, repository_id, ref, pull_request_number, available_at, created_at)
    VALUES (CASE WHEN p_ref.pull_request_number IS NULL THEN 'confirm_ref' ELSE 'confirm_pull_request' END, p_ref.installation_id, p_ref.repository_id, p_ref.ref, p_ref.pull_request_number,
            p_now, p_now)
    ON CONFLICT (repository_id, ref) WHERE kind IN ('confirm_pull_request', 'confirm_ref') AND settled_at IS NULL DO NOTHING
$$;
