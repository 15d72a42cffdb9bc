"""Identity, order and supersession, as PostgreSQL decides them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from boardreadyops.db.metadata import note_installation
from tests.sql.conftest import NOON, SHA_A, SHA_B, SHA_C, World, observation
from tests.sql.test_held_rows import meanwhile
from tests.sql.test_neighbours import found, opened_at


async def test_a_first_observation_creates_a_queued_run_that_owes_a_check(world: World) -> None:
    enqueued = await world.enqueue(observation())
    assert enqueued.outcome == "created"
    assert enqueued.release_run_id is not None
    run = await world.run(enqueued.release_run_id)
    assert (run["status"], run["version"], run["retry_number"], run["decision"]) == ("queued", 0, 0, None)
    assert run["due_at"] > run["created_at"]
    publication = await world.publication(run["id"])
    assert (publication["desired_seq"], publication["acked_seq"]) == (1, 0)
    assert publication["external_id"] == f"{run['id']}:0:0"
    assert publication["check_name"] == "BoardReadyOps"
    assert await world.count("release_run_transition_events") == 0


async def test_scenario_01_two_deliveries_of_one_event_make_one_run(world: World) -> None:
    first = await world.enqueue(observation())
    second = await world.enqueue(observation())
    assert (first.outcome, second.outcome) == ("created", "existing")
    assert first.release_run_id == second.release_run_id
    assert await world.count("publications") == 1


async def test_scenario_02_five_deliveries_at_once_make_one_run(world: World) -> None:
    answers = await asyncio.gather(*(world.enqueue(observation()) for _ in range(5)))
    assert sorted(answer.outcome for answer in answers) == ["created", *["existing"] * 4]
    assert len({answer.release_run_id for answer in answers}) == 1
    assert await world.count("release_runs") == await world.count("publications") == 1


async def test_a_newer_commit_supersedes_the_older_run_and_its_lease(world: World) -> None:
    older = await world.opened(SHA_A)
    grant = await world.claimed()
    newer = await world.opened(SHA_B, minute=1)
    run = await world.run(older)
    assert (run["status"], run["superseded_by"], run["version"]) == ("superseded", newer, 2)
    assert (await world.attempt(grant.execution_attempt_id))["status"] == "superseded"
    assert await world.owner.fetchval("SELECT state FROM runner_leases") == "superseded"
    assert (await world.publication(older))["payload"]["superseded_by"] == str(newer)
    assert await world.owner.fetchval("SELECT release_run_id FROM refs") == newer


async def test_scenario_03_a_delayed_delivery_of_an_older_commit_is_recorded_superseded(world: World) -> None:
    newer = await world.opened(SHA_B, minute=5)
    late = await world.enqueue(observation(SHA_A, minute=1))
    assert late.outcome == "superseded"
    assert late.confirm_requested
    assert late.release_run_id is not None
    run = await world.run(late.release_run_id)
    assert (run["status"], run["superseded_by"], run["version"]) == ("superseded", newer, 1)
    assert (await world.run(newer))["status"] == "queued"
    assert (await world.publication(late.release_run_id))["payload"]["status"] == "superseded"
    assert await world.owner.fetchval("SELECT head_sha FROM refs") == SHA_B


async def test_a_late_commit_keeps_the_base_that_it_was_observed_with(world: World) -> None:
    await world.opened(SHA_B, minute=5)
    late = await world.enqueue(replace(observation(SHA_A, minute=1), base_sha="e" * 40))
    assert late.release_run_id is not None
    assert (await world.run(late.release_run_id))["base_sha"] == "e" * 40


async def test_scenario_04_a_force_push_back_asks_the_old_head_again(world: World) -> None:
    first = await world.opened(SHA_A)
    second = await world.opened(SHA_B, minute=1)
    assert await world.opened(SHA_A, minute=2) == first
    run = await world.run(first)
    assert (run["status"], run["retry_number"], run["superseded_by"]) == ("queued", 1, None)
    assert (await world.run(second))["superseded_by"] == first
    assert (await world.publication(first, retry_number=1))["external_id"] == f"{first}:1:0"
    assert (await world.publication(first, retry_number=0))["payload"]["status"] == "superseded"


async def test_scenario_05_a_decision_stands_when_its_commit_is_the_head_again(world: World) -> None:
    first = await world.opened(SHA_A)
    await world.report(await world.claimed(), "completed", "fail")
    await world.opened(SHA_B, minute=1)
    assert await world.opened(SHA_A, minute=2) == first
    run = await world.run(first)
    assert (run["status"], run["decision"], run["retry_number"]) == ("completed", "fail", 0)
    assert await world.owner.fetchval("SELECT release_run_id FROM refs") == first


async def test_scenario_06_one_commit_in_two_pull_requests_makes_two_runs(world: World) -> None:
    assert await world.opened(SHA_A, number=1) != await world.opened(SHA_A, number=2)
    assert await world.owner.fetchval("SELECT count(*) FROM release_runs WHERE status = 'queued'") == 2


async def test_scenario_07_a_draft_made_ready_is_checked_once(world: World) -> None:
    drafted = await world.enqueue(replace(observation(), draft=True))
    ready = await world.enqueue(observation(minute=1))
    assert (drafted.outcome, ready.outcome) == ("created", "existing")
    assert await world.count("publications") == 1
    assert await world.owner.fetchval("SELECT draft FROM refs") is False


async def test_equal_time_and_different_content_changes_nothing_and_asks_github(world: World) -> None:
    await world.opened(SHA_A)
    enqueued = await world.enqueue(observation(SHA_B))
    assert (enqueued.outcome, enqueued.release_run_id, enqueued.confirm_requested) == ("ignored", None, True)
    assert [tuple(row) for row in await world.owner.fetch("SELECT head_sha, observation FROM refs")] == [
        (SHA_A, 1)
    ]
    assert await world.owner.fetchval("SELECT kind FROM outbox") == "confirm_pull_request"
    await world.enqueue(observation(SHA_C))
    assert await world.count("outbox") == 1


async def test_a_confirm_is_adopted_only_while_nothing_newer_was_observed(world: World) -> None:
    await world.opened(SHA_A)
    await world.enqueue(observation(SHA_B))
    outdated = await world.enqueue(observation(SHA_C), confirmed=0)
    assert (outdated.outcome, outdated.release_run_id) == ("moved_on", None)
    confirmed = await world.enqueue(observation(SHA_B), confirmed=1)
    assert confirmed.outcome == "created"
    assert await world.owner.fetchval("SELECT head_sha FROM refs") == SHA_B


async def test_an_older_commit_without_anything_to_succeed_it_is_not_recorded(world: World) -> None:
    await world.close(observation(SHA_B, minute=5))
    late = await world.enqueue(observation(SHA_A, minute=1))
    assert (late.outcome, late.release_run_id, late.confirm_requested) == ("ignored", None, True)
    assert await world.count("release_runs") == 0


async def test_a_fork_waits_for_approval_and_is_not_claimable(world: World) -> None:
    await world.enqueue(replace(observation(), trust_mode="fork"))
    run = await world.owner.fetchrow("SELECT approval, due_at - queued_at AS wait FROM release_runs")
    assert run is not None
    assert (run["approval"], run["wait"].days) == ("waiting", 7)
    async with world.app.transaction() as connection:
        row = await connection.fetchrow(
            "SELECT claim_outcome FROM boardreadyops_claim_runner_lease($1, gen_random_uuid(), '{}')",
            await world.runner(),
        )
    assert row is not None
    assert row["claim_outcome"] == "none"


async def test_a_fork_is_skipped_where_the_policy_says_so(world: World) -> None:
    await world.owner.execute("UPDATE installations SET fork_policy = 'skip'")
    enqueued = await world.enqueue(replace(observation(), trust_mode="fork"))
    assert enqueued.release_run_id is not None
    assert await world.history(enqueued.release_run_id) == [
        ("release_run", "queued", "cancelled", "policy_skipped")
    ]
    again = await world.enqueue(replace(observation(minute=1), trust_mode="fork"))
    assert again.outcome == "existing"
    assert (await world.run(enqueued.release_run_id))["status"] == "cancelled"


async def test_another_installation_does_not_find_the_repository(world: World) -> None:
    async with world.app.transaction() as connection:
        await note_installation(connection, installation_id=2, account_login="other", account_id=None)
    before = await world.everything()
    enqueued = await world.enqueue(replace(observation(), installation_id=2))
    assert (enqueued.outcome, enqueued.release_run_id) == ("not_found", None)
    assert await world.everything() == before


async def test_a_suspended_installation_opens_nothing(world: World) -> None:
    await world.owner.execute("UPDATE installations SET suspended = true")
    before = await world.everything()
    assert (await world.enqueue(observation())).outcome == "disabled"
    assert await world.everything() == before


async def test_a_late_commit_is_known_by_its_own_ref_only(world: World) -> None:
    await world.opened(SHA_B, number=2)
    newer = await world.opened(SHA_A, minute=1)
    late = await world.enqueue(observation(SHA_B))
    assert late.outcome == "superseded"
    assert late.release_run_id is not None
    run = await world.run(late.release_run_id)
    assert (run["ref"], run["superseded_by"]) == ("refs/pull/1/head", newer)


async def test_an_outdated_confirm_writes_nothing(world: World) -> None:
    await world.opened()
    before = await world.everything()
    assert (await world.enqueue(observation(SHA_B, minute=1), confirmed=7)).outcome == "moved_on"
    assert await world.everything() == before


async def test_an_enqueue_waits_for_the_open_run_and_the_head_of_its_ref_and_for_no_other(
    world: World,
) -> None:
    await found(world, 2, 20)
    earlier = await world.opened(SHA_C, number=1)
    await world.report(await world.claimed())
    replaced = await world.opened(SHA_B, minute=1)
    for place, sha in (((2, 20, 1), SHA_A), ((2, 20, 2), SHA_B), ((1, 10, 2), SHA_A)):
        await opened_at(world, place, sha)
    held = "SELECT FROM release_runs WHERE id <> '{}' FOR UPDATE"
    arguments = (
        1,
        10,
        "refs/pull/1/head",
        1,
        SHA_A,
        "main",
        "f" * 40,
        False,
        "trusted",
        NOON + timedelta(minutes=2),
    )
    (answer,) = await meanwhile(world, held.format(replaced), "enqueue_release_run_with_outbox", *arguments)
    assert answer["enqueue_outcome"] == "created"
    returned = (*arguments[:4], SHA_C, *arguments[5:9], NOON + timedelta(minutes=3))
    now_open = answer["release_run_id"]
    for waited_for in (now_open, earlier):
        alone = f"SELECT FROM release_runs WHERE id = '{waited_for}' FOR UPDATE"
        with pytest.raises(asyncpg.LockNotAvailableError):
            await meanwhile(world, alone, "enqueue_release_run_with_outbox", *returned)
    others = f"SELECT FROM release_runs WHERE id NOT IN ('{now_open}', '{earlier}') FOR UPDATE"
    (answer,) = await meanwhile(world, others, "enqueue_release_run_with_outbox", *returned)
    assert (answer["enqueue_outcome"], answer["release_run_id"]) == ("existing", earlier)
