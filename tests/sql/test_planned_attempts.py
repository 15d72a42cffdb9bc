"""The attempt of a run that a workflow will execute: planned with the run, dispatched once."""

from __future__ import annotations

from tests.sql.conftest import World
from tests.sql.test_workflow_dispatch import claimed_dispatch


async def test_attempts_are_numbered_by_run(world: World) -> None:
    await world.execute_by("actions")
    for number in (1, 2):
        run = await world.run(await world.opened(number=number))
        assert (await world.attempt(run["execution_attempt_id"]))["number"] == 1


async def test_an_attempt_has_one_dispatch_however_often_it_is_asked_for(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    for _ in range(2):
        await world.owner.execute(
            "SELECT boardreadyops_request_dispatch(run, attempt, now()) FROM release_runs AS run"
            " JOIN release_run_attempts AS attempt ON attempt.id = run.execution_attempt_id"
        )
    assert [row["id"] for row in await world.owed("workflow_dispatch")] == [dispatch.effect_id]
