-- Purpose: keeps the history append-only for every role, the owner included.
-- Outcomes: always an error; there is no legal change of a written event.
-- Locks: none. Writes: nothing.
-- Internal: a trigger function, granted to nobody.
CREATE OR REPLACE FUNCTION boardreadyops_refuse_event_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'release_run_transition_events is append-only'
        USING ERRCODE = 'insufficient_privilege', HINT = 'Append a new transition; history is never rewritten.';
END
$$;
