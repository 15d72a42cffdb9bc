"""The sweeper on a real database: what is due ends, and one bad row stops nobody."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from boardreadyops.db.pool import Database
from boardreadyops.worker.sweeper import Sweeper
from tests.sql.conftest import World, world

__all__ = ["world"]

POISON = """
CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.pull_request_number = 2 THEN RAISE EXCEPTION 'poison'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER poison BEFORE UPDATE ON release_runs FOR EACH ROW EXECUTE FUNCTION poison();
"""


@pytest.fixture
def sweeper(app_database: Database) -> Sweeper:
    return Sweeper(app_database, interval_seconds=0.01, rng=random.Random(7))


async def overdue(world: World, *run_ids: UUID) -> None:
    await world.owner.execute(
        "UPDATE release_runs SET due_at = now() - interval '1 second' WHERE id = ANY ($1)", run_ids
    )


async def test_a_run_past_its_deadline_ends_and_nothing_else_does(world: World, sweeper: Sweeper) -> None:
    late, early = await world.opened(number=1), await world.opened(number=2)
    await overdue(world, late)
    assert await sweeper.run_once() == 1
    assert await sweeper.run_once() == 0
    run = await world.run(late)
    assert (run["status"], run["reason_code"]) == ("timed_out", "queue_deadline_exceeded")
    assert (await world.run(early))["status"] == "queued"


async def test_scenario_36_a_silent_runners_run_is_queued_again_without_any_other_caller(
    world: World, sweeper: Sweeper
) -> None:
    run_id = await world.opened()
    await world.claimed()
    await sweeper.run_once()  # the first look after a long time gives grace
    await world.owner.execute("UPDATE runner_leases SET expires_at = claimed_at, next_check_at = claimed_at")
    await world.owner.execute("UPDATE sweep_marks SET grace_until = NULL")  # as if it were over
    assert await sweeper.run_once() == 1
    assert (await world.run(run_id))["status"] == "queued"


async def test_scenario_58_one_poisoned_row_stops_no_other(world: World, sweeper: Sweeper) -> None:
    runs = [await world.opened(number=number) for number in (1, 2, 3)]
    await overdue(world, *runs)
    await world.owner.execute(POISON)
    assert await sweeper.run_once() == 2
    assert [(await world.run(run_id))["status"] for run_id in runs] == ["timed_out", "queued", "timed_out"]
    assert await sweeper.run_once() == 0
    later = await world.opened(number=4)
    await overdue(world, later)
    assert await sweeper.run_once() == 1
    await world.owner.execute("DROP TRIGGER poison ON release_runs")


async def test_an_open_ref_of_a_tenant_that_came_back_is_asked_again(world: World, sweeper: Sweeper) -> None:
    run_id = await world.opened()
    async with world.app.transaction() as connection:
        await connection.execute(
            "SELECT boardreadyops_cancel_installation_runs(1, 'installation_suspended', 10)"
        )
        await connection.execute("SELECT boardreadyops_resume_installation(1, 10)")
    assert await sweeper.run_once() == 1
    run = await world.run(run_id)
    assert (run["status"], run["retry_number"], run["reason_code"]) == ("queued", 1, "head_returned")


async def test_a_ref_that_fails_in_the_levels_sweep_does_not_stop_the_others(
    world: World, sweeper: Sweeper
) -> None:
    await world.owner.execute(
        "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF OLD.ref = 'refs/pull/1/head' THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$"
    )
    for number in (1, 2, 3):
        await world.opened(number=number)
    await world.owner.execute(
        "UPDATE refs SET level_due_at = now() - make_interval(mins => 4 - pull_request_number)"
    )
    await world.owner.execute(
        "CREATE TRIGGER poison BEFORE UPDATE ON refs FOR EACH ROW EXECUTE FUNCTION poison()"
    )
    assert await sweeper.run_once() == 2
    left = await world.owner.fetch("SELECT ref FROM refs WHERE level_due_at IS NOT NULL")
    assert [row["ref"] for row in left] == ["refs/pull/1/head"]
