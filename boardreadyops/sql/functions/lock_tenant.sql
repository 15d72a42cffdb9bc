-- Purpose: holds installation and repository as they are while work is opened, so that a suspension or removal either
--          sees that work or stops it.
-- Outcomes: true when both are enabled; false when one is suspended, removed or disabled; null when the repository is
--   unknown or another installation's.
-- Locks: installation, then repository, both shared. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_lock_tenant(p_installation_id bigint, p_repository_id bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_installation_open boolean;
    v_enabled boolean;
BEGIN
    SELECT NOT (suspended OR removed) INTO v_installation_open FROM installations
        WHERE id = p_installation_id FOR SHARE;
    SELECT enabled INTO v_enabled FROM repositories
        WHERE id = p_repository_id AND installation_id = p_installation_id FOR SHARE;
    RETURN v_enabled AND v_installation_open;
END
$$;
