"""Whose run a runner gets next: installations take turns, inside one the oldest goes first, and only what may be run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from tests.conftest import DatabaseUrls
from tests.sql.conftest import SHA_A, SHA_B, World
from tests.sql.test_neighbours import found, opened_at
from tests.sql.test_oldest_claimable_run import LONG_WALK, beside_an_old_transaction, mark

INSTALLATIONS = (1, 2, 3)


async def claimed_run(
    world: World, runner: UUID, *, capabilities: Sequence[str] = (), now: datetime | None = None
) -> UUID | None:
    """The run that this runner is handed, if any."""
    (claim,) = await world.call("claim_runner_lease", runner, uuid4(), list(capabilities), now)
    assert claim["claim_outcome"] in {"created", "none"}
    run_id: UUID | None = await world.owner.fetchval(
        "SELECT release_run_id FROM runner_leases WHERE id = $1", claim["lease_id"]
    )
    return run_id


async def three_installations(world: World, waiting: Sequence[int] = INSTALLATIONS) -> dict[UUID, int]:
    """Two waiting runs of each; which installation each belongs to."""
    of = {}
    for installation_id in INSTALLATIONS:
        if installation_id > 1:
            await found(world, installation_id, 10 * installation_id)
        if installation_id in waiting:
            for number in (1, 2):
                of[await opened_at(world, (installation_id, 10 * installation_id, number))] = installation_id
    return of


@pytest.mark.parametrize("marked", [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), INSTALLATIONS])
async def test_a_managed_runner_serves_the_installations_in_turn(world: World, marked: Sequence[int]) -> None:
    of = await three_installations(world)
    for installation_id in marked:
        await mark(world, installation_id, ahead="-1 hour", rescan_in="1 hour")
    runner = await world.runner()
    served = [await claimed_run(world, runner) for _ in of]
    assert [of[run_id] for run_id in served if run_id] == [1, 2, 3, 1, 2, 3]
    assert sorted(run_id for run_id in served if run_id) == sorted(of)
    assert await claimed_run(world, runner) is None


@pytest.mark.parametrize("served_last", [0, *INSTALLATIONS])
@pytest.mark.parametrize("marked", [(), (1,), (1, 3), INSTALLATIONS])
async def test_the_only_one_that_waits_is_served_whosever_turn_it_is(
    world: World, served_last: int, marked: Sequence[int]
) -> None:
    of = await three_installations(world, waiting=(2,))
    for installation_id in marked:
        await mark(world, installation_id, ahead="-1 hour", rescan_in="1 hour")
    await world.owner.execute(f"SELECT setval('claim_turn', {served_last})")
    assert await claimed_run(world, await world.runner()) in of


UNFIT = {
    "a workflow executes it": "UPDATE release_runs SET execution_backend = 'actions'",
    "it waits for approval": "UPDATE release_runs SET approval = 'waiting'",
    "it was given back a moment ago": "UPDATE release_runs SET queued_at = now() + interval '1 minute'",
    "it needs what this runner lacks": "UPDATE release_runs SET needs = '{kicad>=10}'",
}
FIT = {
    "it was queued just now": "UPDATE release_runs SET queued_at = updated_at",
    "it needs what this runner has": "UPDATE release_runs SET needs = '{kicad>=9}'",
}


@pytest.mark.parametrize("installation_id", [None, 1])
@pytest.mark.parametrize("why", [*UNFIT, *FIT])
async def test_a_runner_gets_what_it_may_run_and_nothing_else(
    world: World, installation_id: int | None, why: str
) -> None:
    run_id = await world.opened()
    await world.owner.execute({**UNFIT, **FIT}[why])
    runner = await world.runner(installation_id=installation_id)
    now = (await world.run(run_id))["updated_at"]
    claimed = await claimed_run(world, runner, capabilities=("kicad=9.0.8",), now=now)
    assert claimed == (run_id if why in FIT else None)


async def test_a_runner_of_an_installation_gets_runs_of_no_other(world: World) -> None:
    await found(world, 2, 20)
    await found(world, 3, 30)
    for place in ((1, 10, 1), (3, 30, 1)):
        await opened_at(world, place)
    runner = await world.runner(installation_id=2)
    assert await claimed_run(world, runner) is None
    ours = await opened_at(world, (2, 20, 1))
    assert await claimed_run(world, runner) == ours


async def test_a_runner_of_some_repositories_gets_runs_of_no_other_and_leaves_no_mark(world: World) -> None:
    await found(world, 1, 11)
    for number in range(1, LONG_WALK):
        await world.opened(number=number)
    runner = await world.runner(installation_id=1)
    await world.owner.execute("UPDATE runner_registrations SET repository_ids = '{11}'")
    assert await claimed_run(world, runner) is None
    ours = await opened_at(world, (1, 11, 1))
    assert await claimed_run(world, runner) == ours
    assert await world.count("claim_marks") == 0


async def test_of_an_older_run_and_one_whose_needs_are_met_the_older_goes_first(world: World) -> None:
    older, newer = await world.opened(SHA_A, number=1), await world.opened(SHA_B, number=2)
    await world.owner.execute("UPDATE release_runs SET needs = '{kicad>=9}' WHERE id = $1", newer)
    runner = await world.runner(installation_id=1)
    claimed = [await claimed_run(world, runner, capabilities=("kicad=9.0.8",)) for _ in (1, 2)]
    assert claimed == [older, newer]


async def test_a_managed_runners_long_walk_leaves_a_mark_and_one_in_vain_none(
    world: World, database_urls: DatabaseUrls
) -> None:
    # So few rows may be sorted as well; among many only the index is cheap, which the plan tests hold.
    await world.owner.execute("ALTER FUNCTION boardreadyops_next_claimable_run SET enable_sort = off")
    async with beside_an_old_transaction(world, database_urls, LONG_WALK):
        runner = await world.runner(name="managed")
        for _ in range(LONG_WALK):
            assert await claimed_run(world, runner) is not None
        assert await world.count("claim_marks") == 1
        await world.owner.execute("DELETE FROM claim_marks")
        assert await claimed_run(world, runner) is None
        assert await world.count("claim_marks") == 0


async def test_a_run_that_lies_exactly_at_the_mark_is_found(world: World) -> None:
    run_id = await world.opened()
    await mark(world, 1, ahead="0 seconds", rescan_in="1 hour")
    await world.owner.execute("UPDATE claim_marks SET queued_at = run.queued_at FROM release_runs AS run")
    assert await claimed_run(world, await world.runner(installation_id=1)) == run_id


async def test_a_mark_holds_for_its_own_installation_and_until_its_time(world: World) -> None:
    run_id = await world.opened()
    runner = await world.runner(installation_id=1)
    await found(world, 2, 20)
    await mark(world, 2, ahead="1 hour", rescan_in="2 hours")
    await mark(world, 1, ahead="1 hour", rescan_in="1 hour")
    rescan_at = await world.owner.fetchval("SELECT rescan_at FROM claim_marks WHERE installation_id = 1")
    assert await claimed_run(world, runner, now=rescan_at - timedelta(microseconds=1)) is None
    assert await claimed_run(world, runner, now=rescan_at) == run_id
