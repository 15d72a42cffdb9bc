-- Purpose: whether a runner's declared capabilities (`kicad=9.0.8`) meet what a run needs (`kicad>=9`, `arch=x86_64`, `gpu`).
--          Versions are compared number by number, a missing part is zero; a part that is no number makes `>=` false.
--          A need that is null or empty asks for nothing, so every runner meets it.
-- Outcomes: true when every need is met; an empty list of needs always is.
-- Locks: none. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_capabilities_meet(p_capabilities text[], p_needs text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT NOT EXISTS (
        SELECT FROM unnest(p_needs) AS need WHERE need <> '' AND NOT EXISTS (
            SELECT FROM unnest(p_capabilities) AS capability
            WHERE capability = need
                OR split_part(capability, '=', 1) = need
                OR (split_part(need, '>=', 2) ~ '^[0-9]{1,9}(\.[0-9]{1,9}){0,7}$'
                    AND split_part(capability, '=', 1) = split_part(need, '>=', 1)
                    AND split_part(capability, '=', 2) ~ '^[0-9]{1,9}(\.[0-9]{1,9}){0,7}$'
                    AND string_to_array(split_part(capability, '=', 2), '.')::integer[]
                        -- A list that another begins with is the smaller one: without its last zeros a need is all it asks.
                        >= string_to_array(regexp_replace(split_part(need, '>=', 2), '(\.0+)+$', ''), '.')::integer[])))
$$;
