"""What GitHub says about workflow runs, taken as far as it goes and no further."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from boardreadyops.db.dispatches import reconcile_workflow_run
from tests.sql.conftest import SHA_A, SHA_B, World, observation
from tests.sql.test_cancel_release_run import cancel
from tests.sql.test_neighbours import found, opened_at
from tests.sql.test_workflow_dispatch import (
    Dispatch,
    acknowledge,
    begin,
    claim_again,
    claimed_dispatch,
    report,
)

GRACE_SECONDS = 300


async def hint(
    world: World,
    status: str,
    *,
    named: UUID | None = None,
    workflow_run_id: int = 77,
    attempt: int = 1,
    repository_id: int = 10,
    now: datetime | None = None,
) -> str:
    """A word of GitHub about a workflow run."""
    if now is not None:
        return await world.answer(
            "reconcile_workflow_run",
            repository_id,
            named,
            workflow_run_id,
            attempt,
            status,
            GRACE_SECONDS,
            now,
        )
    async with world.app.transaction() as connection:
        return await reconcile_workflow_run(
            connection,
            repository_id=repository_id,
            execution_attempt_id=named,
            workflow_run_id=workflow_run_id,
            workflow_run_attempt=attempt,
            workflow_status=status,
            grace_seconds=GRACE_SECONDS,
        )


async def ignored(world: World, outcome: str, status: str, **rest: object) -> None:
    before = await world.everything()
    assert await hint(world, status, **rest) == outcome  # type: ignore[arg-type]
    assert await world.everything() == before


async def dispatched(world: World) -> Dispatch:
    dispatch = await claimed_dispatch(world)
    assert await acknowledge(world, dispatch, 77) == "applied"
    return dispatch


async def running(world: World) -> Dispatch:
    dispatch = await dispatched(world)
    assert await hint(world, "in_progress") == "applied"
    return dispatch


async def end_of(world: World, dispatch: Dispatch) -> str:
    """The workflow ends without a result, and the grace passes."""
    assert await hint(world, "completed") == "waiting"
    now = await world.owner.fetchval(
        "SELECT next_check_at FROM reconciliation_findings WHERE settled_at IS NULL"
    )
    return await hint(world, "completed", now=now)


async def test_in_progress_moves_attempt_and_run(world: World) -> None:
    dispatch = await dispatched(world)
    seq = (await world.publication(dispatch.run_id))["desired_seq"]
    assert await hint(world, "in_progress") == "applied"
    run, attempt = await world.run(dispatch.run_id), await world.attempt(dispatch.attempt_id)
    assert (run["status"], run["version"], attempt["status"], attempt["version"]) == (
        "running",
        2,
        "in_progress",
        3,
    )
    assert run["due_at"] - run["updated_at"] == timedelta(minutes=90)
    assert (await world.history(dispatch.run_id))[-2:] == [
        ("execution_attempt", "dispatched", "in_progress", "workflow_reconciled"),
        ("release_run", "dispatched", "running", "workflow_reconciled"),
    ]
    told = await world.publication(dispatch.run_id)
    assert (told["payload"]["status"], told["desired_seq"]) == ("running", seq + 1)
    await ignored(world, "existing", "in_progress")


async def test_a_run_name_that_overtakes_the_answer_binds_and_starts_the_attempt(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    assert await hint(world, "in_progress", named=dispatch.attempt_id) == "applied"
    attempt = await world.attempt(dispatch.attempt_id)
    assert (attempt["workflow_run_id"], attempt["workflow_run_attempt"]) == (77, 1)
    assert [event[1:] for event in (await world.history(dispatch.run_id))[1:]] == [
        ("dispatching", "dispatched", "workflow_dispatched"),
        ("dispatched", "in_progress", "workflow_reconciled"),
        ("queued", "running", "workflow_reconciled"),
    ]
    assert await acknowledge(world, dispatch, 77) == "existing"


@pytest.mark.parametrize("status", ["requested", "queued", "pending", "waiting", "no such status"])
async def test_a_workflow_that_has_not_started_is_bound_and_nothing_else(world: World, status: str) -> None:
    dispatch = await claimed_dispatch(world)
    assert await hint(world, status, named=dispatch.attempt_id) == "existing"
    assert (await world.attempt(dispatch.attempt_id))["workflow_run_id"] == 77
    assert (await world.run(dispatch.run_id))["status"] == "queued"
    await ignored(world, "existing", status)


async def test_what_belongs_to_no_attempt_here_is_not_found(world: World) -> None:
    dispatch = await dispatched(world)
    await ignored(world, "not_found", "in_progress", workflow_run_id=78)
    await ignored(world, "not_found", "in_progress", repository_id=11)
    await ignored(world, "not_found", "in_progress", repository_id=11, named=dispatch.attempt_id)


@pytest.mark.parametrize("status", ["in_progress", "completed"])
async def test_a_run_name_cannot_touch_what_a_runner_executes(world: World, status: str) -> None:
    await world.opened()
    grant = await world.claimed()
    await ignored(world, "not_found", status, named=grant.execution_attempt_id)


async def test_another_workflow_run_of_the_attempt_is_refused_and_cancelled(world: World) -> None:
    dispatch = await dispatched(world)
    before = await world.everything(but=("outbox",))
    for attempt in (1, 2):
        answer = await hint(
            world, "in_progress", named=dispatch.attempt_id, workflow_run_id=78, attempt=attempt
        )
        assert answer == "conflict"
    assert await world.everything(but=("outbox",)) == before
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [78]


async def test_a_workflow_whose_attempt_is_over_is_cancelled_once_unless_it_ended(world: World) -> None:
    assert await report(world, await claimed_dispatch(world, SHA_B, number=2)) == "accepted"
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    await cancel(world, dispatch.run_id)
    before = await world.everything(but=("outbox", "release_run_attempts"))
    assert await hint(world, "completed", named=dispatch.attempt_id) == "ended"
    assert await world.owed("workflow_cancel") == []
    assert [await hint(world, "in_progress") for _ in range(3)] == ["ended"] * 3
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]
    assert await world.everything(but=("outbox", "release_run_attempts")) == before


async def test_an_ended_workflow_without_a_result_fails_its_run_after_the_grace(world: World) -> None:
    dispatch = await running(world)
    before = await world.everything(but=("reconciliation_findings",))
    assert await hint(world, "completed") == "waiting"
    finding = await world.owner.fetchrow("SELECT * FROM reconciliation_findings")
    assert finding is not None
    assert (finding["outcome_code"], finding["release_run_id"], finding["execution_attempt_id"]) == (
        "workflow_ended_without_result",
        dispatch.run_id,
        dispatch.attempt_id,
    )
    due_at = finding["next_check_at"]
    assert due_at - finding["found_at"] == timedelta(seconds=GRACE_SECONDS)
    await ignored(world, "waiting", "completed")
    await ignored(world, "waiting", "completed", now=due_at - timedelta(microseconds=1))
    assert await world.everything(but=("reconciliation_findings",)) == before
    assert await hint(world, "completed", now=due_at) == "applied"
    run, attempt = await world.run(dispatch.run_id), await world.attempt(dispatch.attempt_id)
    assert (run["status"], run["reason_code"], run["decision"]) == ("failed", "workflow_reconciled", None)
    assert (attempt["status"], attempt["inferred"]) == ("failed", True)
    assert await world.owner.fetchval("SELECT settled_at FROM reconciliation_findings") == due_at
    assert (await world.publication(dispatch.run_id))["payload"]["status"] == "failed"
    assert await world.owed("workflow_cancel") == []
    assert await hint(world, "completed") == "ended"
    assert await world.count("reconciliation_findings") == 1


async def test_a_finding_is_settled_when_the_result_came_within_the_grace(world: World) -> None:
    dispatch = await running(world)
    assert await hint(world, "completed") == "waiting"
    assert await report(world, dispatch) == "accepted"
    assert await hint(world, "completed") == "ended"
    assert await world.owner.fetchval("SELECT settled_at IS NOT NULL FROM reconciliation_findings")
    assert (await world.run(dispatch.run_id))["status"] == "completed"


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_a_workflow_that_told_its_result_is_left_to_finish(world: World, status: str) -> None:
    dispatch = await claimed_dispatch(world)
    await begin(world, dispatch)
    assert await report(world, dispatch, status, "pass" if status == "completed" else "error") == "accepted"
    assert await acknowledge(world, dispatch, 77) == "ended"
    assert await hint(world, "in_progress") == "ended"
    assert await world.owed("workflow_cancel") == []


async def test_a_re_run_in_the_actions_tab_is_a_retry_that_is_running(world: World) -> None:
    dispatch = await running(world)
    assert await end_of(world, dispatch) == "applied"
    version = (await world.run(dispatch.run_id))["version"]
    assert await hint(world, "in_progress", attempt=2) == "retried"
    run = await world.run(dispatch.run_id)
    attempt = await world.attempt(run["execution_attempt_id"])
    assert (run["status"], run["retry_number"], run["version"]) == ("running", 1, version + 2)
    assert (attempt["status"], attempt["version"], attempt["retry_id"]) == ("in_progress", 0, run["retry_id"])
    assert (attempt["workflow_run_id"], attempt["workflow_run_attempt"]) == (77, 2)
    assert (await world.history(dispatch.run_id))[-2:] == [
        ("release_run", "failed", "queued", "retry_requested"),
        ("release_run", "queued", "running", "workflow_reconciled"),
    ]
    assert (await world.publication(dispatch.run_id, 1))["payload"]["status"] == "running"
    await ignored(world, "existing", "in_progress", attempt=2)
    await world.published()
    assert len(await world.owed("workflow_dispatch")) == 1


async def test_an_earlier_attempt_of_the_workflow_has_no_say_any_more(world: World) -> None:
    dispatch = await running(world)
    assert await end_of(world, dispatch) == "applied"
    assert await hint(world, "in_progress", attempt=2) == "retried"
    for status in ("requested", "in_progress", "completed"):
        await ignored(world, "ended", status, attempt=1)


async def test_a_re_run_of_an_open_run_changes_nothing(world: World) -> None:
    await running(world)
    await ignored(world, "existing", "in_progress", attempt=2)


@pytest.mark.parametrize("why", ["moved on", "closed", "suspended", "disabled"])
async def test_a_re_run_that_nobody_needs_is_cancelled(world: World, why: str) -> None:
    dispatch = await running(world)
    assert await end_of(world, dispatch) == "applied"
    await found(world, 2, 20)
    for place in ((2, 20, 1), (1, 10, 2)):  # the same commit heads other open refs
        await opened_at(world, place)
    match why:
        case "moved on":
            await world.opened(SHA_B, minute=1)
        case "closed":
            await world.close(observation(SHA_A, minute=1))
        case "suspended":
            await world.owner.execute("UPDATE installations SET suspended = true")
        case _:
            await world.owner.execute("UPDATE repositories SET enabled = false")
    before = await world.everything(but=("outbox",))
    assert await hint(world, "in_progress", attempt=2) == "ended"
    assert await world.everything(but=("outbox",)) == before
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]


async def test_a_superseded_runs_workflow_is_cancelled_with_it(world: World) -> None:
    dispatch = await running(world)
    await world.opened(SHA_B, minute=1)
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]
    assert (await world.attempt(dispatch.attempt_id))["status"] == "superseded"


async def test_a_re_run_of_an_older_workflow_while_the_run_is_open_is_refused_and_cancelled(
    world: World,
) -> None:
    dispatch = await running(world)
    assert await end_of(world, dispatch) == "applied"
    assert await world.answer("retry_release_run", 1, dispatch.run_id, 0) == "created"
    await ignored(world, "existing", "completed", attempt=2)
    before = await world.everything(but=("outbox",))
    for _ in range(2):
        assert await hint(world, "in_progress", attempt=2) == "existing"
    assert await world.everything(but=("outbox",)) == before
    assert [row["workflow_run_id"] for row in await world.owed("workflow_cancel")] == [77]


async def test_a_claim_says_which_workflow_run_is_to_be_cancelled(world: World) -> None:
    dispatch = await running(world)
    await world.opened(SHA_B, minute=1)
    (cancelled,) = [effect for effect in await world.effects() if effect.kind == "workflow_cancel"]
    assert (cancelled.release_run_id, cancelled.workflow_run_id) == (dispatch.run_id, 77)


async def test_each_attempt_has_a_grace_of_its_own_and_no_other_finding_ends_it(world: World) -> None:
    dispatch = await running(world)
    assert await hint(world, "completed") == "waiting"
    await cancel(world, dispatch.run_id)
    assert await world.answer("retry_release_run", 1, dispatch.run_id, 0) == "created"
    assert await hint(world, "in_progress", attempt=2) == "existing", "the retry has a workflow of its own"
    await world.owner.execute("UPDATE outbox SET settled_at = now() WHERE settled_at IS NULL")
    for first_check_run_id in (600, 700):
        await world.published(first_check_run_id=first_check_run_id)
    again = await claim_again(world, dispatch.run_id)
    assert await acknowledge(world, again, 78) == "applied"
    await world.owner.execute("UPDATE reconciliation_findings SET next_check_at = now()")
    for code, settled in (("workflow_missing", "NULL"), ("workflow_ended_without_result", "now()")):
        await world.owner.execute(
            "INSERT INTO reconciliation_findings (installation_id, repository_id, release_run_id, execution_attempt_id,"
            f" outcome_code, found_at, settled_at, next_check_at) SELECT 1, 10, $1, $2, $3, now(), {settled},"
            f" CASE WHEN {settled} IS NULL THEN now() END",
            *(dispatch.run_id, again.attempt_id, code),
        )
    assert await hint(world, "completed", workflow_run_id=78) == "waiting"
    assert (await world.run(dispatch.run_id))["status"] == "dispatched"
