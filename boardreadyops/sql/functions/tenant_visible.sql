-- Purpose: whether a row of this installation may be shown on a page: the reader names its tenants by SET LOCAL, '*' on a local
--          operator's own machine. It asks about its caller, so it runs with its caller's rights.
-- Outcomes: true or false; false when no tenant was named.
-- Locks: none. Writes: nothing.
CREATE OR REPLACE FUNCTION boardreadyops_tenant_visible(p_installation_id bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT COALESCE(current_setting('boardreadyops.installation_ids', true) = '*'
        OR p_installation_id = ANY (
            string_to_array(NULLIF(current_setting('boardreadyops.installation_ids', true), ''), ',')::bigint[]), false)
$$;
