"""A new run: whose it is, who executes it, and whether somebody has to approve it first."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from tests.sql.conftest import World, observation
from tests.sql.test_neighbours import found


@pytest.mark.parametrize("trust_mode", ["trusted", "fork"])
@pytest.mark.parametrize(
    ("policy", "of_a_fork"),
    [
        ("run", ("queued", "not_needed", None)),
        ("approve", ("queued", "waiting", None)),
        ("skip", ("cancelled", "not_needed", "policy_skipped")),
    ],
)
async def test_a_forks_run_goes_as_its_installation_says(
    world: World, policy: str, of_a_fork: tuple[str, str, str | None], trust_mode: Literal["trusted", "fork"]
) -> None:
    await found(world, 2, 20)
    await world.owner.execute(
        "UPDATE installations SET fork_policy = CASE id WHEN 1 THEN $1 ELSE 'run' END", policy
    )
    enqueued = await world.enqueue(replace(observation(), trust_mode=trust_mode))
    assert enqueued.release_run_id is not None
    run = await world.run(enqueued.release_run_id)
    expected = of_a_fork if trust_mode == "fork" else ("queued", "not_needed", None)
    assert (run["status"], run["approval"], run["reason_code"]) == expected


@pytest.mark.parametrize(
    ("of_repository", "of_installation", "expected"),
    [
        (None, None, "runner"),
        (None, "actions", "actions"),
        ("runner", "actions", "runner"),
        ("actions", None, "actions"),
    ],
)
async def test_a_repository_says_who_executes_its_runs_and_else_its_installation(
    world: World, of_repository: str | None, of_installation: str | None, expected: str
) -> None:
    await world.owner.execute("UPDATE repositories SET execution_backend = $1", of_repository)
    await world.owner.execute("UPDATE installations SET execution_backend = $1", of_installation)
    run = await world.run(await world.opened())
    assert run["execution_backend"] == expected
    assert (run["execution_attempt_id"] is None) is (expected == "runner")
