"""Branches, tags and merge-queue refs: pushes carry no order, so only what continues the head is taken at once."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from boardreadyops.db.metadata import note_installation
from boardreadyops.db.runs import Pushed, enqueue_pushed_ref
from tests.sql.conftest import SHA_A, SHA_B, SHA_C, World

ZEROS = "0" * 40
LONG = f"refs/heads/{'b' * 200}"
MAIN, TAG, QUEUE = "refs/heads/main", "refs/tags/v1.0", "refs/heads/gh-readonly-queue/main/pr-1-abc"


async def push(
    world: World,
    before: str,
    after: str | None,
    *,
    ref: str = MAIN,
    confirmed: int | None = None,
    installation_id: int = 1,
) -> Pushed:
    async with world.app.transaction() as connection:
        return await enqueue_pushed_ref(
            connection,
            installation_id=installation_id,
            repository_id=10,
            ref=ref,
            before=before,
            commit_sha=after,
            confirmed_observation=confirmed,
        )


async def pushed(world: World, before: str, after: str, *, ref: str = MAIN) -> UUID:
    answer = await push(world, before, after, ref=ref)
    assert answer.outcome == "created"
    assert answer.release_run_id is not None
    return answer.release_run_id


async def head(world: World, ref: str = MAIN) -> tuple[str, bool, UUID | None]:
    row = await world.owner.fetchrow("SELECT head_sha, open, release_run_id FROM refs WHERE ref = $1", ref)
    assert row is not None
    return tuple(row)


@pytest.mark.parametrize(
    ("ref", "check_name"),
    [
        (MAIN, "BoardReadyOps (main)"),
        (TAG, "BoardReadyOps (v1.0)"),
        (QUEUE, "BoardReadyOps"),
        (LONG, f"BoardReadyOps ({'b' * 180})"),
    ],
)
async def test_a_new_ref_opens_a_run_under_its_own_check_name(
    world: World, ref: str, check_name: str
) -> None:
    run_id = await pushed(world, ZEROS, SHA_A, ref=ref)
    run = await world.run(run_id)
    assert (run["status"], run["version"], run["ref"], run["pull_request_number"], run["trust_mode"]) == (
        "queued",
        0,
        ref,
        None,
        "trusted",
    )
    assert (await world.publication(run_id))["check_name"] == check_name
    assert await head(world, ref) == (SHA_A, True, run_id)


async def test_scenario_12_a_pushed_ref_is_serialised_and_superseded_like_a_pull_request(
    world: World,
) -> None:
    for ref in (MAIN, TAG, QUEUE):
        older = await pushed(world, ZEROS, SHA_A, ref=ref)
        grant = await world.claimed()
        newer = await pushed(world, SHA_A, SHA_B, ref=ref)
        run = await world.run(older)
        assert (run["status"], run["superseded_by"]) == ("superseded", newer)
        assert (await world.attempt(grant.execution_attempt_id))["status"] == "superseded"
        assert await head(world, ref) == (SHA_B, True, newer)
        await world.report(await world.claimed())


async def test_a_repeat_is_existing_and_writes_nothing(world: World) -> None:
    run_id = await pushed(world, ZEROS, SHA_A)
    before = await world.everything()
    assert await push(world, SHA_C, SHA_A) == Pushed("existing", run_id)
    assert await world.everything() == before
    before = await world.everything(but=("refs",))
    assert await push(world, ZEROS, SHA_A) == Pushed("existing", run_id)
    assert await world.everything(but=("refs",)) == before


async def test_five_deliveries_at_once_open_one_run(world: World) -> None:
    answers = await asyncio.gather(*(push(world, ZEROS, SHA_A) for _ in range(5)))
    assert sorted(answer.outcome for answer in answers) == ["created", *["existing"] * 4]
    assert await world.count("release_runs") == 1


@pytest.mark.parametrize("gap", ["not the head", "seen before", "from nothing", "no word of it"])
async def test_what_does_not_continue_the_head_is_asked_for_once(world: World, gap: str) -> None:
    run_id = await pushed(world, ZEROS, SHA_A)
    before = {"not the head": SHA_C, "from nothing": ZEROS}.get(gap, SHA_A)
    after = SHA_B
    if gap == "seen before":
        run_id = await pushed(world, SHA_A, SHA_B)
        before, after = SHA_B, SHA_A
    observation = await world.owner.fetchval("SELECT observation FROM refs")
    rows = await world.everything(but=("refs", "outbox"))
    for _ in range(2):
        if gap == "no word of it":
            assert await world.answer("enqueue_pushed_ref", 1, 10, MAIN, None, after) == "ask"
        else:
            assert await push(world, before, after) == Pushed("ask", None)
    assert await world.everything(but=("refs", "outbox")) == rows
    assert await world.owner.fetchval("SELECT observation FROM refs") == observation + 2
    assert [(row["kind"], row["ref"]) for row in await world.owed("confirm_ref")] == [("confirm_ref", MAIN)]
    assert (await head(world))[2] == run_id


async def test_a_confirm_is_adopted_while_nothing_newer_was_observed(world: World) -> None:
    await pushed(world, ZEROS, SHA_A)
    newer = await pushed(world, SHA_A, SHA_B)
    await push(world, SHA_B, SHA_A)
    observation = await world.owner.fetchval("SELECT observation FROM refs")
    before = await world.everything()
    for outdated in (observation - 1, observation + 1):
        assert await push(world, ZEROS, SHA_A, confirmed=outdated) == Pushed("moved_on", None)
    assert await world.everything() == before
    answer = await push(world, ZEROS, SHA_A, confirmed=observation)
    assert answer.outcome == "existing"
    assert answer.release_run_id is not None
    returned = await world.run(answer.release_run_id)
    assert (returned["status"], returned["retry_number"], returned["reason_code"]) == (
        "queued",
        1,
        "head_returned",
    )
    assert (await world.run(newer))["superseded_by"] == returned["id"]


@pytest.mark.parametrize("confirmed", [0, 5])
async def test_a_confirm_of_a_ref_that_nobody_knows_writes_nothing(world: World, confirmed: int) -> None:
    before = await world.everything()
    assert await push(world, ZEROS, SHA_A, confirmed=confirmed) == Pushed("moved_on", None)
    assert await world.everything() == before


async def test_a_deleted_ref_is_closed_and_its_open_run_cancelled(world: World) -> None:
    run_id = await pushed(world, ZEROS, SHA_A)
    grant = await world.claimed()
    assert await push(world, SHA_A, None) == Pushed("closed", None)
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"]) == ("cancelled", "ref_deleted")
    assert (await world.attempt(grant.execution_attempt_id))["status"] == "cancelled"
    assert (await head(world))[:2] == (SHA_A, False)
    before = await world.everything(but=("refs",))
    assert await push(world, SHA_A, None) == Pushed("closed", None)
    assert await world.everything(but=("refs",)) == before


async def test_a_late_deletion_of_a_ref_that_went_on_is_asked_for(world: World) -> None:
    await pushed(world, ZEROS, SHA_A)
    run_id = await pushed(world, SHA_A, SHA_B)
    assert (await push(world, SHA_A, None)).outcome == "ask"
    assert await head(world) == (SHA_B, True, run_id)


async def test_a_deletion_of_an_unknown_ref_is_on_record_as_closed(world: World) -> None:
    assert await push(world, SHA_A, None) == Pushed("closed", None)
    assert await head(world) == (SHA_A, False, None)
    assert await world.count("release_runs") == 0


async def test_a_tenant_that_is_not_served_opens_nothing(world: World) -> None:
    async with world.app.transaction() as connection:
        await note_installation(connection, installation_id=2, account_login="other", account_id=None)
    before = await world.everything()
    assert await push(world, ZEROS, SHA_A, installation_id=2) == Pushed("not_found", None)
    assert await world.everything() == before
    for switch in ("UPDATE installations SET suspended = id = 1", "UPDATE repositories SET enabled = false"):
        await world.owner.execute(switch)
        before = await world.everything()
        assert await push(world, ZEROS, SHA_A) == Pushed("disabled", None)
        assert await world.everything() == before
        await world.owner.execute("UPDATE installations SET suspended = false")


async def test_a_late_repeat_of_a_deletion_asks_once_the_ref_was_made_again_at_the_same_commit(
    world: World,
) -> None:
    await pushed(world, ZEROS, SHA_A)
    assert (await push(world, SHA_A, None)).outcome == "closed"
    observation = await world.owner.fetchval("SELECT observation FROM refs")
    assert (await push(world, ZEROS, SHA_A)).outcome == "ask"
    assert (await push(world, ZEROS, SHA_A, confirmed=observation + 1)).outcome == "existing"
    assert await push(world, SHA_A, None) == Pushed("ask", None)
    assert (await head(world))[:2] == (SHA_A, True)
    assert await world.count("outbox") >= 1
    observation = await world.owner.fetchval("SELECT observation FROM refs")
    assert (await push(world, SHA_A, None, confirmed=observation)).outcome == "closed"
    assert (await head(world))[:2] == (SHA_A, False)


async def test_a_deletion_that_two_creations_at_one_commit_overtook_is_asked_for(world: World) -> None:
    await pushed(world, ZEROS, SHA_A)
    assert (await push(world, ZEROS, SHA_A)).outcome == "existing"
    assert (await push(world, SHA_A, None)).outcome == "ask"
    assert (await head(world))[:2] == (SHA_A, True)


async def test_a_deletion_while_the_tenant_is_disabled_closes_the_ref(world: World) -> None:
    await pushed(world, ZEROS, SHA_A)
    await world.owner.execute("UPDATE installations SET suspended = true")
    assert (await push(world, SHA_A, SHA_B)).outcome == "disabled"
    assert (await push(world, SHA_A, None)).outcome == "closed"
    assert (await head(world))[:2] == (SHA_A, False)


async def test_a_ref_that_was_deleted_once_is_pushed_to_as_ever(world: World) -> None:
    await pushed(world, ZEROS, SHA_A)
    assert (await push(world, SHA_A, None)).outcome == "closed"
    assert (await push(world, ZEROS, SHA_A)).outcome == "ask"
    observation = await world.owner.fetchval("SELECT observation FROM refs")
    assert (await push(world, ZEROS, SHA_A, confirmed=observation)).outcome == "existing"
    assert (await push(world, SHA_A, SHA_B)).outcome == "created"


async def test_a_confirm_of_the_head_applies_the_level_rule(world: World) -> None:
    run_id = await pushed(world, ZEROS, SHA_A)
    await world.call("cancel_installation_runs", 1, "installation_suspended", 10)
    assert await push(world, ZEROS, SHA_A) == Pushed("existing", run_id)
    assert (await world.run(run_id))["status"] == "cancelled"
    observation = await world.owner.fetchval("SELECT observation FROM refs")
    assert await push(world, ZEROS, SHA_A, confirmed=observation) == Pushed("existing", run_id)
    run = await world.run(run_id)
    assert (run["status"], run["reason_code"]) == ("queued", "head_returned")
