-- Purpose: appends one event and answers its hash: SHA-256 over the entity's previous hash and every column that tells
--          the transition, so that a removed or altered row breaks the chain. Times enter as microseconds since 1970.
-- Outcomes: the new hash, which the caller stores on the entity.
-- Locks: none of its own; the caller holds the entity's row. Writes: release_run_transition_events.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_append_transition_event(
    p_event release_run_transition_events, p_previous_hash bytea) RETURNS bytea
LANGUAGE plpgsql AS $$
DECLARE
    v_hash bytea := sha256(p_previous_hash || convert_to(concat_ws('|',
        p_event.installation_id, p_event.repository_id, p_event.release_run_id,
        COALESCE(p_event.execution_attempt_id::text, '-'), p_event.entity_type, p_event.from_status, p_event.to_status,
        p_event.from_version, p_event.to_version, p_event.reason_code,
        (extract(epoch FROM p_event.occurred_at) * 1000000)::bigint), 'UTF8'));
BEGIN
    INSERT INTO release_run_transition_events (
        installation_id, repository_id, release_run_id, execution_attempt_id, entity_type,
        from_status, to_status, from_version, to_version, reason_code, occurred_at, hash)
    VALUES (
        p_event.installation_id, p_event.repository_id, p_event.release_run_id, p_event.execution_attempt_id,
        p_event.entity_type, p_event.from_status, p_event.to_status, p_event.from_version, p_event.to_version,
        p_event.reason_code, p_event.occurred_at, v_hash);
    RETURN v_hash;
END
$$;
