"""Which workflow run an attempt is bound to."""

from __future__ import annotations

from tests.sql.conftest import SHA_B, World
from tests.sql.test_neighbours import found, opened_at


async def test_a_workflow_run_is_bound_by_its_repository_its_id_and_its_attempt(world: World) -> None:
    await world.execute_by("actions")
    await found(world, 1, 11)
    await opened_at(world, (1, 11, 1))
    await world.opened(number=2)
    await world.opened(SHA_B, number=3)
    await world.published()
    theirs, ours, third = (row["id"] for row in await world.owed("workflow_dispatch"))
    for effect_id, workflow in ((theirs, (77, 1)), (ours, (77, 1)), (third, (77, 2))):
        assert await world.answer("acknowledge_workflow_dispatch", effect_id, *workflow) == "applied"
