"""Who is served: an enabled repository of an installation that is neither suspended nor removed, held as it is."""

from __future__ import annotations

from dataclasses import replace

import asyncpg
import pytest

from tests.sql.conftest import SHA_A, World, observation
from tests.sql.test_held_rows import meanwhile
from tests.sql.test_neighbours import found

ASKED = "SELECT boardreadyops_lock_tenant($1, $2)"


@pytest.mark.parametrize(
    ("switch", "served"),
    [
        ("UPDATE repositories SET enabled = true", True),
        ("UPDATE repositories SET enabled = false", False),
        ("UPDATE installations SET suspended = true", False),
        ("UPDATE installations SET removed = true", False),
    ],
)
async def test_a_tenant_is_served_while_nothing_of_it_is_off(world: World, switch: str, served: bool) -> None:
    await world.owner.execute(switch)
    assert await world.owner.fetchval(ASKED, 1, 10) is served


async def test_another_installations_repository_is_nobodys(world: World) -> None:
    await found(world, 2, 20)
    for installation_id, repository_id in ((1, 20), (2, 10), (3, 10), (1, 99)):
        assert await world.owner.fetchval(ASKED, installation_id, repository_id) is None


@pytest.mark.parametrize("table", ["installations", "repositories"])
async def test_what_opens_work_waits_for_a_switch_that_is_being_thrown(world: World, table: str) -> None:
    with pytest.raises(asyncpg.LockNotAvailableError):
        await meanwhile(
            world,
            f"SELECT FROM {table} FOR NO KEY UPDATE",
            *("enqueue_pushed_ref", 1, 10, "refs/heads/main", "0" * 40, SHA_A),
        )


@pytest.mark.parametrize("disabled", [10, 11])
async def test_a_repository_that_is_disabled_stops_no_other(world: World, disabled: int) -> None:
    await found(world, 1, 11)
    await world.owner.execute("UPDATE repositories SET enabled = id <> $1", disabled)
    for repository_id in (10, 11):
        answer = await world.enqueue(replace(observation(), repository_id=repository_id))
        assert answer.outcome == ("disabled" if repository_id == disabled else "created")
