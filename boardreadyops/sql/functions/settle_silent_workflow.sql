-- Purpose: a workflow ended and no result came. The result may still be under way, so the finding is kept and looked at
--          again; after the grace the run fails, inferred.
-- Outcomes: waiting | applied.
-- Locks: findings, lease, outbox/publication; the caller holds run and attempt.
-- Writes: reconciliation_findings, run, attempt, events, publication.
-- Internal: called only by reconcile_workflow_run.
CREATE OR REPLACE FUNCTION boardreadyops_settle_silent_workflow(
    p_run release_runs, p_attempt release_run_attempts, p_grace_seconds integer, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_attempt release_run_attempts := p_attempt;
    v_finding reconciliation_findings;
BEGIN
    SELECT * INTO v_finding FROM reconciliation_findings WHERE release_run_id = p_run.id
        AND execution_attempt_id = p_attempt.id AND outcome_code = 'workflow_ended_without_result'
        AND settled_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO reconciliation_findings (installation_id, repository_id, release_run_id, execution_attempt_id,
                                             outcome_code, found_at, next_check_at)
        VALUES (p_run.installation_id, p_run.repository_id, p_run.id, p_attempt.id, 'workflow_ended_without_result',
                p_now, p_now + make_interval(secs => p_grace_seconds));
        RETURN 'waiting';
    END IF;
    IF v_finding.next_check_at > p_now THEN
        RETURN 'waiting';
    END IF;

    UPDATE reconciliation_findings SET settled_at = p_now, next_check_at = NULL WHERE id = v_finding.id;
    -- The attempt ends before its run, so that no workflow run is cancelled: this one is over, or made to run again by now.
    v_attempt.inferred := true;
    PERFORM boardreadyops_move_execution_attempt(v_attempt, 'failed', 'workflow_reconciled', p_now);
    PERFORM boardreadyops_end_release_run(p_run, 'failed', 'workflow_reconciled', p_now);
    RETURN 'applied';
END
$$;
