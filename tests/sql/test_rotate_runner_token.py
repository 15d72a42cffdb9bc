"""Rotation: a new token for a registration, the old one void at once, its leases untouched."""

from __future__ import annotations

import asyncio
import hashlib
from uuid import UUID, uuid4

from boardreadyops.db.runners import find_registration, revoke_runner, rotate_runner_token
from tests.sql.conftest import World
from tests.sql.test_held_rows import meanwhile
from tests.sql.test_runner_leases import beat


def digest(word: str) -> bytes:
    return hashlib.sha256(word.encode()).digest()


async def rotate(world: World, registration_id: UUID, word: str = "new") -> str:
    async with world.app.transaction() as connection:
        return await rotate_runner_token(
            connection, registration_id=registration_id, token_digest=digest(word)
        )


async def holder(world: World, token_digest: bytes) -> UUID | None:
    async with world.app.connection() as connection:
        found = await find_registration(connection, token_digest=token_digest)
    return None if found is None else found.id


async def stored(world: World, registration_id: UUID) -> bytes:
    query = "SELECT token_digest FROM runner_registrations WHERE id = $1"
    found: bytes = await world.owner.fetchval(query, registration_id)
    return found


async def test_the_new_token_opens_and_the_old_one_does_not(world: World) -> None:
    runner, other = await world.runner(), await world.runner(name="bench-2")
    old, others = await stored(world, runner), await stored(world, other)
    assert await rotate(world, runner) == "applied"
    assert await holder(world, digest("new")) == runner
    assert await holder(world, old) is None
    assert await holder(world, others) == other


async def test_again_with_the_same_token_it_answers_existing_and_an_unknown_one_is_not_found(
    world: World,
) -> None:
    runner = await world.runner()
    await rotate(world, runner)
    before = await world.everything()
    assert await rotate(world, runner) == "existing"
    assert await rotate(world, uuid4(), "another") == "not_found"
    assert await world.everything() == before


async def test_a_revoked_registration_gets_no_token(world: World) -> None:
    runner = await world.runner()
    async with world.app.transaction() as connection:
        await revoke_runner(connection, registration_id=runner)
    before = await world.everything()
    assert await rotate(world, runner) == "revoked"
    assert await world.everything() == before


async def test_leases_stay(world: World) -> None:
    await world.opened()
    runner = await world.runner()
    grant = await world.claimed(runner)
    before = await world.everything(but=("runner_registrations",))
    assert await rotate(world, runner) == "applied"
    assert await world.everything(but=("runner_registrations",)) == before
    answer = await beat(world, grant.lease_id, "running")
    assert answer.directive == "continue"
    assert (await world.report(grant)).outcome == "accepted"


async def test_it_waits_for_no_run_or_lease_and_no_other_registration(world: World) -> None:
    await world.opened()
    runner, other = await world.runner(), await world.runner(name="bench-2")
    await world.claimed(runner)
    for held in ("release_runs", "release_run_attempts", "runner_leases"):
        statement = f"SELECT FROM {held} FOR UPDATE"
        assert (await meanwhile(world, statement, "rotate_runner_token", runner, digest(held)))[0][
            0
        ] == "applied"
    statement = f"SELECT FROM runner_registrations WHERE id = '{other}' FOR UPDATE"
    assert (await meanwhile(world, statement, "rotate_runner_token", runner, digest("x")))[0][0] == "applied"


async def test_of_a_rotation_and_a_revocation_at_once_the_second_sees_the_first(world: World) -> None:
    for _ in range(5):
        runner = await world.runner()

        async def revoke(runner: UUID = runner) -> str:
            async with world.app.transaction() as connection:
                return await revoke_runner(connection, registration_id=runner)

        rotated, revoked = await asyncio.gather(rotate(world, runner, str(runner)), revoke())
        assert revoked == "applied"
        assert rotated in {"applied", "revoked"}
        kept = await stored(world, runner) == digest(str(runner))
        assert kept == (rotated == "applied")
