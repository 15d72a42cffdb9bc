-- Purpose: when the clock of a run in this status runs out: the installation's own clock, else the deployment's.
-- Outcomes: a time; null for a terminal status, which has no clock.
-- Locks: none. Writes: nothing.
-- Internal: called only by guarded functions.
CREATE OR REPLACE FUNCTION boardreadyops_due_at(
    p_installation_id bigint, p_status text, p_approval text, p_now timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT p_now + make_interval(secs => CASE
        WHEN p_status = 'queued' AND p_approval = 'waiting'
            THEN COALESCE(installation.approval_timeout_seconds, deployment.approval_timeout_seconds)
        WHEN p_status = 'queued' THEN COALESCE(installation.queue_timeout_seconds, deployment.queue_timeout_seconds)
        WHEN p_status = 'dispatched' THEN COALESCE(installation.start_timeout_seconds, deployment.start_timeout_seconds)
        WHEN p_status = 'running' THEN COALESCE(installation.run_timeout_seconds, deployment.run_timeout_seconds)
        END)
    FROM installations AS installation, deployment_settings AS deployment
    WHERE installation.id = p_installation_id);
END
$$;
