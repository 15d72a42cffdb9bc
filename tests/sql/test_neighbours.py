"""Whoever changes one thing changes only that: the same ref elsewhere, other refs here, other tenants."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from boardreadyops.db.metadata import note_installation, put_repository
from boardreadyops.db.pool import Record
from boardreadyops.db.runs import enqueue_pushed_ref
from boardreadyops.domain.identity import RepositoryFacts
from tests.sql.conftest import NOON, SHA_A, SHA_B, SHA_C, World, observation

# (installation, repository, pull request): the tested one is (1, 10, 1), and all of them are at the same commit.
NEIGHBOURS = ((2, 20, 1), (1, 11, 1), (1, 10, 2))
CLOCKS = ("sweep_marks", "deployment_settings")


async def found(world: World, installation_id: int, repository_id: int) -> None:
    async with world.app.transaction() as connection:
        await note_installation(
            connection,
            installation_id=installation_id,
            account_login=f"acme-{installation_id}",
            account_id=None,
        )
        facts = RepositoryFacts(
            repository_id=repository_id,
            owner="acme",
            name=f"board-{repository_id}",
            private=True,
            default_branch="main",
        )
        await put_repository(connection, installation_id, facts, observed_at=NOON)


async def opened_at(world: World, place: tuple[int, int, int], head_sha: str = SHA_A) -> UUID:
    installation_id, repository_id, number = place
    seen = observation(head_sha, number=number)
    answer = await world.enqueue(replace(seen, installation_id=installation_id, repository_id=repository_id))
    assert answer.release_run_id is not None
    return answer.release_run_id


async def neighbours(world: World, backend: str) -> list[UUID]:
    """Runs in full swing beside the tested one, each with everything that a run can have."""
    await found(world, 2, 20)
    await found(world, 1, 11)
    await world.execute_by(backend)
    runs = [await opened_at(world, place) for place in NEIGHBOURS]
    await world.published(first_check_run_id=100)
    if backend == "runner":
        runner = await world.runner(name="neighbour")
        for number, _ in enumerate(NEIGHBOURS):
            grant = await world.claimed(runner)
            stage = ("running", "uploading_artifacts", "reporting")[number]
            await world.call("heartbeat_runner_lease", grant.lease_id, stage, 7, "theirs", None)
    else:
        for effect in await world.effects():
            assert (
                await world.answer("begin_workflow_dispatch", effect.effect_id, effect.generation)
            ) == "begun"
            workflow = 900 + effect.effect_id
            assert (
                await world.answer("acknowledge_workflow_dispatch", effect.effect_id, workflow, 1)
                == "applied"
            )
            await world.call(
                "reconcile_workflow_run", effect.repository_id, None, workflow, 1, "in_progress", 60
            )
            await world.call(
                "reconcile_workflow_run", effect.repository_id, None, workflow, 1, "completed", 60
            )
    await world.published()
    for place in NEIGHBOURS:  # an older word: GitHub is asked, and somebody is asking
        older = replace(observation(SHA_C, minute=-1, number=place[2]), installation_id=place[0])
        await world.enqueue(replace(older, repository_id=place[1]))
    await world.effects()
    await world.published()
    await world.owner.execute("UPDATE outbox SET claimed_until = 'infinity' WHERE settled_at IS NULL")
    return runs


@asynccontextmanager
async def undisturbed(world: World) -> AsyncIterator[None]:
    """Every row that is there stays there as it is; new ones may come."""
    before = await world.everything(but=CLOCKS)
    yield
    after = await world.everything(but=CLOCKS)
    for table, rows in before.items():
        assert [row for row in rows if row not in after[table]] == [], table


async def lease_of(world: World, lease_id: UUID) -> Record:
    row = await world.owner.fetchrow("SELECT * FROM runner_leases WHERE id = $1", lease_id)
    assert row is not None
    return row


async def claimed_later(world: World, runner: UUID, hours: int) -> UUID:
    """The tested run, which waits a little after it was given back."""
    now = await world.owner.fetchval("SELECT now() + make_interval(hours => $1)", hours)
    (claim,) = await world.call("claim_runner_lease", runner, uuid4(), [], now)
    assert claim["claim_outcome"] == "created"
    lease_id: UUID = claim["lease_id"]
    return lease_id


async def all_due(world: World) -> None:
    """What was done with a later clock is due now."""
    for table in ("outbox", "publications"):
        await world.owner.execute(f"UPDATE {table} SET available_at = now() WHERE available_at > now()")


async def test_a_runners_whole_life_of_a_run_disturbs_no_neighbour(world: World) -> None:
    await neighbours(world, "runner")
    async with undisturbed(world):
        run_id, runner = await world.opened(), await world.runner(installation_id=1)
        assert (await world.enqueue(observation())).outcome == "existing"
        await world.enqueue(observation(SHA_B, minute=-1))
        await world.enqueue(observation(SHA_B))  # of the same time, so only GitHub knows
        await world.published(first_check_run_id=200)
        grant = await world.claimed(runner)
        assert grant.release_run_id == run_id
        for stage in ("running", "running", "uploading_artifacts"):
            (beat,) = await world.call("heartbeat_runner_lease", grant.lease_id, stage, 7, "ours")
            assert beat["directive"] == "continue"
        assert (
            await world.answer("relinquish_runner_lease", grant.lease_id, "job_error", "", []) == "accepted"
        )
        lease = await lease_of(world, await claimed_later(world, runner, 1))
        overdue = lease["expires_at"]
        await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", overdue - timedelta(seconds=6))
        (expiry,) = await world.call("expire_runner_leases", 10, lease["id"], overdue)
        assert expiry["expiry_outcome"] == "requeued"
        await world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "mira")
        (retried,) = await world.call("retry_release_run", 1, run_id, 0)
        assert retried["retry_outcome"] == "created"
        await claimed_later(world, runner, 2)
        assert await world.answer("revoke_runner", runner) == "applied"
        (swept,) = await world.call("sweep_deadlines", 10, run_id, (await world.run(run_id))["due_at"])
        assert swept["release_run_id"] == run_id
        await world.published(first_check_run_id=300)


async def test_a_result_a_newer_commit_and_a_close_disturb_no_neighbour(world: World) -> None:
    await neighbours(world, "runner")
    async with undisturbed(world):
        run_id = await world.opened()
        grant = await world.claimed(await world.runner(installation_id=1))
        assert (await world.report(grant)).outcome == "accepted"
        assert (await world.report(grant)).outcome == "replayed"
        assert (await world.report(grant, "failed", "error", body=b"other")).outcome == "conflict"
        newer = await world.opened(SHA_B, minute=1)
        newest = await world.opened(SHA_C, minute=2)
        assert (await world.run(newer))["superseded_by"] == newest
        await world.opened(SHA_A, minute=3)
        assert (await world.close(observation(SHA_A, minute=4))).outcome == "closed"
        assert (await world.run(run_id))["status"] == "completed"
        other = await world.opened(SHA_B, number=3)
        (row,) = await world.call(
            "transition_release_run_state", other, "queued", 0, None, "cancelled", "tidied"
        )
        assert row["transition_outcome"] == "applied"
        assert await world.answer("cancel_release_run", 1, newest, "cancelled_by_user", "mira") == "terminal"


async def test_a_workflows_whole_life_of_a_run_disturbs_no_neighbour(world: World) -> None:
    await neighbours(world, "actions")
    async with undisturbed(world):
        run_id = await world.opened()
        await world.published(first_check_run_id=200)
        (effect,) = await world.effects()
        (begun,) = await world.call("begin_workflow_dispatch", effect.effect_id, effect.generation)
        assert (begun["dispatch_outcome"], begun["release_run_id"]) == ("begun", run_id)
        assert (
            await world.answer("give_up_workflow_dispatch", effect.effect_id, effect.generation, "silent")
            == "applied"
        )
        (effect,) = await world.effects()
        await world.call("begin_workflow_dispatch", effect.effect_id, effect.generation)
        assert await world.answer("acknowledge_workflow_dispatch", effect.effect_id, 77, 1) == "applied"
        for status, outcome in (("in_progress", "applied"), ("completed", "waiting")):
            assert await world.answer("reconcile_workflow_run", 10, None, 77, 1, status, 60) == outcome
        later = await world.owner.fetchval("SELECT now() + interval '1 hour'")
        assert (
            await world.answer("reconcile_workflow_run", 10, None, 77, 1, "completed", 60, later) == "applied"
        )
        assert (await world.run(run_id))["status"] == "failed"
        assert (
            await world.answer("reconcile_workflow_run", 10, None, 77, 2, "in_progress", 60, later)
            == "retried"
        )
        assert (await world.run(run_id))["status"] == "running"
        await world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "mira", later)
        (retried,) = await world.call("retry_release_run", 1, run_id, 1, later)
        assert retried["retry_outcome"] == "created"
        await all_due(world)
        for retry_number in (0, 1, 2):  # one check of a commit at a time, the oldest first
            await world.published(first_check_run_id=300 + retry_number)
        await all_due(world)
        (effect,) = [effect for effect in await world.effects() if effect.kind == "workflow_dispatch"]
        assert (
            await world.answer("give_up_workflow_dispatch", effect.effect_id, effect.generation, "refused")
            == "applied"
        )


async def test_checks_that_are_lost_doubted_and_read_back_disturb_no_neighbour(world: World) -> None:
    await neighbours(world, "runner")
    async with undisturbed(world):
        run_id = await world.opened()
        keys = []
        for error in ("transient", "uncertain"):
            (row,) = await world.call("claim_publications", 10, 30, 0)
            keys.append((row["publication_id"], row["generation"]))
            assert await world.answer("defer_publication", *keys[-1], error, "HTTP 502", 0) == "applied"
        (row,) = await world.call("claim_publications", 10, 30, 0)
        now = row["publication_id"], row["generation"]
        assert await world.answer("record_check_run", *now, 200) == "applied"
        assert await world.answer("acknowledge_publication", *now, 1) == "applied"
        assert await world.answer("acknowledge_publication", *keys[-1], 1) == "stale"
        (due,) = await world.call("claim_verifications", 10, 60)
        assert (
            await world.answer("record_verification", due["publication_id"], due["seq"], "different")
            == "applied"
        )
        await world.published()
        assert (
            await world.answer("record_verification", due["publication_id"], due["seq"] + 1, "frozen")
            == "applied"
        )
        assert (await world.publication(run_id))["ordinal"] == 1
        await world.published(first_check_run_id=300)


async def test_pushes_disturb_no_neighbour(world: World) -> None:
    await found(world, 2, 20)
    await found(world, 1, 11)
    pushes = (
        *((2, 20, "refs/heads/main"), (1, 11, "refs/heads/main"), (1, 10, "refs/heads/other")),
        (1, 11, "refs/heads/twice"),
    )

    async def push(place: tuple[int, int, str], before: str, after: str | None) -> str:
        async with world.app.transaction() as connection:
            answer = await enqueue_pushed_ref(
                connection,
                installation_id=place[0],
                repository_id=place[1],
                ref=place[2],
                before=before,
                commit_sha=after,
                confirmed_observation=None,
            )
        return answer.outcome

    for place in pushes:
        assert await push(place, "0" * 40, SHA_C) == "created"
        assert await push(place, SHA_C, SHA_B) == "created"
    async with undisturbed(world):
        here = (1, 10, "refs/heads/main")
        assert await push(here, "0" * 40, SHA_A) == "created"
        assert await push(here, SHA_A, SHA_B) == "created"
        assert await push(here, SHA_B, SHA_C) == "created"
        assert await push(here, "e" * 40, SHA_B) == "ask"
        assert await push(here, SHA_C, None) == "closed"
        twice = (1, 10, "refs/heads/twice")
        assert [await push(twice, "0" * 40, SHA_C) for _ in range(2)] == ["created", "existing"]


@pytest.mark.parametrize("policy", ["approve", "skip"])
async def test_a_forks_run_disturbs_no_neighbour(world: World, policy: str) -> None:
    await world.owner.execute("UPDATE installations SET fork_policy = $1", policy)
    await neighbours(world, "runner")
    async with undisturbed(world):
        answer = await world.enqueue(replace(observation(), trust_mode="fork"))
        approved = await world.answer("approve_release_run", 1, answer.release_run_id, "mira")
        assert approved == ("applied" if policy == "approve" else "existing")


async def test_a_suspended_tenants_runs_end_and_resume_without_disturbing_others(world: World) -> None:
    await found(world, 2, 20)
    theirs = await opened_at(world, (2, 20, 1))
    await world.published()
    async with undisturbed(world):
        runs = [await world.opened(number=number) for number in (1, 2)]
        assert await world.answer("cancel_installation_runs", 1, "installation_suspended", 10) == 2  # type: ignore[comparison-overlap]
        assert await world.answer("resume_installation", 1, 10) == 2  # type: ignore[comparison-overlap]
        asked = [row["release_run_id"] for _ in runs for row in await world.call("sweep_levels", 10)]
        assert sorted(asked) == sorted(runs)
        assert {(await world.run(run_id))["status"] for run_id in runs} == {"queued"}
    assert (await world.run(theirs))["status"] == "queued"


async def test_effects_are_settled_and_deferred_one_at_a_time(world: World) -> None:
    for number in (2, 1):
        await world.opened(SHA_B, number=number)
        await world.enqueue(observation(SHA_A, minute=-1, number=number))
    theirs, ours = await world.effects()
    assert await world.answer("defer_outbox", ours.effect_id, ours.generation, "HTTP 502", 9) == "applied"
    assert await world.answer("settle_outbox", ours.effect_id, ours.generation, "confirmed") == "applied"
    rows = {row["id"]: row for row in await world.owed("confirm_pull_request")}
    assert rows[theirs.effect_id]["last_error"] is rows[theirs.effect_id]["settled_at"] is None
    assert rows[ours.effect_id]["outcome_code"] == "confirmed"


async def test_a_deadline_of_one_run_makes_no_other_inferred(world: World) -> None:
    await neighbours(world, "runner")
    async with undisturbed(world):
        run_id = await world.opened()
        await world.claimed(await world.runner(installation_id=1))
        due_at = (await world.run(run_id))["due_at"]
        (swept,) = await world.call("sweep_deadlines", 10, run_id, due_at)
        assert swept["reason_code"] == "run_deadline_exceeded"


@pytest.mark.parametrize("end", ["rearmed", "closed", "timed_out"])
async def test_a_sweep_of_one_lease_touches_no_other(world: World, end: str) -> None:
    await neighbours(world, "runner")
    async with undisturbed(world):
        await world.opened()
        grant = await world.claimed(await world.runner(installation_id=1))
        lease = await lease_of(world, grant.lease_id)
        now = lease["maximum_expires_at" if end == "timed_out" else "expires_at"]
        if end == "rearmed":
            await world.call(
                "heartbeat_runner_lease", lease["id"], "claimed", 1, "", now - timedelta(seconds=1)
            )
        elif end == "closed":
            await world.owner.execute(
                "UPDATE runner_leases SET expected_run_version = 9 WHERE id = $1", lease["id"]
            )
        await world.owner.execute("UPDATE sweep_marks SET swept_at = $1", now - timedelta(seconds=6))
        (expiry,) = await world.call("expire_runner_leases", 10, lease["id"], now)
        assert expiry["expiry_outcome"] == end
