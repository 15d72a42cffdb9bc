-- Purpose: takes one observation of a ref at its own time, whatever order observations arrive in.
-- Outcomes: adopted (new or later: the ref now is what was observed) | same (nothing new) | older | ask (equal time,
--   different content: only GitHub knows) | moved_on (a confirm that is no longer the newest word).
-- Locks: the ref. Writes: refs; `observation` rises with every later and every equal but different observation.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_adopt_observation(p_observed refs, p_confirmed_observation bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_stored refs;
    v_same boolean;
BEGIN
    INSERT INTO refs SELECT p_observed.* ON CONFLICT (repository_id, ref) DO NOTHING;
    IF FOUND THEN
        RETURN 'adopted';
    END IF;
    SELECT * INTO STRICT v_stored FROM refs
        WHERE repository_id = p_observed.repository_id AND ref = p_observed.ref FOR NO KEY UPDATE;
    v_same := (v_stored.open, v_stored.draft, v_stored.head_sha, v_stored.base_ref, v_stored.base_sha)
        IS NOT DISTINCT FROM
        (p_observed.open, p_observed.draft, p_observed.head_sha, p_observed.base_ref, p_observed.base_sha);
    IF p_confirmed_observation IS NOT NULL AND (p_confirmed_observation <> v_stored.observation
        OR p_observed.observed_at < v_stored.observed_at) THEN
        RETURN 'moved_on';
    END IF;
    IF p_observed.observed_at < v_stored.observed_at THEN
        RETURN 'older';
    END IF;
    IF p_observed.observed_at = v_stored.observed_at AND v_same THEN
        RETURN 'same';
    END IF;
    IF p_observed.observed_at = v_stored.observed_at AND p_confirmed_observation IS NULL THEN
        UPDATE refs SET observation = observation + 1
            WHERE repository_id = p_observed.repository_id AND ref = p_observed.ref;
        RETURN 'ask';
    END IF;

    UPDATE refs SET
        open = p_observed.open, draft = p_observed.draft, head_sha = p_observed.head_sha,
        base_ref = p_observed.base_ref, base_sha = p_observed.base_sha,
        trust_mode = CASE WHEN p_observed.open THEN p_observed.trust_mode ELSE trust_mode END,
        observed_at = p_observed.observed_at, observation = observation + 1
    WHERE repository_id = p_observed.repository_id AND ref = p_observed.ref;
    RETURN 'adopted';
END
$$;
