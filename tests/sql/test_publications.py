"""The publication protocol in the database: fences, doubt, order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from boardreadyops.db.pool import Connection
from boardreadyops.db.publications import (
    ClaimedPublication,
    FencedOutcome,
    acknowledge_publication,
    claim_publications,
    defer_publication,
    record_check_run,
)
from tests.sql.conftest import SHA_A, SHA_B, World


async def claim(world: World) -> tuple[ClaimedPublication, ...]:
    async with world.app.transaction() as connection:
        return await claim_publications(connection, limit=10, lease_seconds=30, doubt_seconds=60)


async def acknowledge(world: World, claimed: ClaimedPublication) -> FencedOutcome:
    async with world.app.transaction() as connection:
        return await acknowledge_publication(
            connection, publication_id=claimed.publication_id, generation=claimed.generation, seq=claimed.seq
        )


async def let_time_pass(world: World, seconds: int) -> None:
    await world.owner.execute(
        "UPDATE publications SET claimed_until = claimed_until - $1::interval, available_at = available_at - $1::interval",
        timedelta(seconds=seconds),
    )


async def test_an_acknowledged_publication_is_not_due_until_there_is_more_to_tell(world: World) -> None:
    await world.opened()
    (first,) = await claim(world)
    assert (first.seq, first.doubtful, first.payload["status"]) == (1, False, "queued")
    assert await acknowledge(world, first) == "applied"
    assert await claim(world) == ()
    await world.claimed()
    (second,) = await claim(world)
    assert (second.seq, second.payload["status"]) == (2, "running")


async def test_scenario_47_what_changed_in_flight_is_sent_next_and_nothing_is_skipped(world: World) -> None:
    await world.opened()
    (flying,) = await claim(world)
    await world.report(await world.claimed())
    assert await claim(world) == ()
    assert await acknowledge(world, flying) == "applied"
    (newest,) = await claim(world)
    assert (newest.seq, newest.payload["status"]) == (3, "completed")


async def test_a_claim_that_was_never_acknowledged_comes_back_doubtful_after_the_doubt(world: World) -> None:
    await world.opened()
    (lost,) = await claim(world)
    await let_time_pass(world, 89)
    assert await claim(world) == ()
    await let_time_pass(world, 2)
    (taken_over,) = await claim(world)
    assert (taken_over.doubtful, taken_over.generation) == (True, lost.generation + 1)


async def test_scenario_20_a_fenced_off_relay_settles_nothing(world: World) -> None:
    run_id = await world.opened()
    (lost,) = await claim(world)
    await let_time_pass(world, 91)
    (current,) = await claim(world)
    assert await acknowledge(world, lost) == "stale"
    row = await world.publication(run_id)
    assert (row["acked_seq"], row["leased"], row["verify_at"] is not None) == (0, True, True)
    async with world.app.transaction() as connection:
        assert (
            await record_check_run(
                connection, publication_id=lost.publication_id, generation=lost.generation, check_run_id=5
            )
            == "stale"
        )
    assert await acknowledge(world, current) == "applied"


async def test_a_check_run_id_is_stored_once(world: World) -> None:
    run_id = await world.opened()
    (claimed,) = await claim(world)
    outcomes = []
    for check_run_id in (5, 5, 6):
        async with world.app.transaction() as connection:
            outcomes.append(
                await record_check_run(
                    connection,
                    publication_id=claimed.publication_id,
                    generation=claimed.generation,
                    check_run_id=check_run_id,
                )
            )
    assert outcomes == ["applied", "applied", "stale"]
    assert (await world.publication(run_id))["check_run_id"] == 5


async def test_of_one_commit_one_row_is_leased_and_the_lower_retry_goes_first(world: World) -> None:
    await world.opened(SHA_A)
    await world.opened(SHA_B, minute=1)
    run_id = await world.opened(SHA_A, minute=2)
    claimed = {row.external_id: row for row in await claim(world)}
    assert f"{run_id}:0:0" in claimed
    assert f"{run_id}:1:0" not in claimed
    await acknowledge(world, claimed[f"{run_id}:0:0"])
    (following,) = await claim(world)
    assert following.external_id == f"{run_id}:1:0"


@pytest.mark.parametrize(
    ("error_class", "doubtful", "closed_code", "due_again"),
    [("transient", False, None, True), ("denied", False, None, True), ("rate_limited", False, None, True),
     ("gone", False, "gone", False), ("uncertain", True, None, True)],
)  # fmt: skip
async def test_a_failed_send_is_tried_again_as_its_class_says(
    world: World, error_class: str, doubtful: bool, closed_code: str | None, due_again: bool
) -> None:
    run_id = await world.opened()
    (claimed,) = await claim(world)
    async with world.app.transaction() as connection:
        outcome = await defer_publication(
            connection,
            publication_id=claimed.publication_id,
            generation=claimed.generation,
            error_class=error_class,  # type: ignore[arg-type]
            error="HTTP 502",
            delay_seconds=20,
        )
    assert outcome == "applied"
    row = await world.publication(run_id)
    assert (row["doubtful"], row["closed_code"], row["last_error"]) == (doubtful, closed_code, "HTTP 502")
    assert await claim(world) == ()
    await let_time_pass(world, 61)
    assert [again.doubtful for again in await claim(world)] == ([doubtful] if due_again else [])


async def test_an_unknown_error_class_or_row_is_refused(world: World) -> None:
    await world.opened()
    (claimed,) = await claim(world)
    outcomes = [
        await world.owner.fetchval(
            "SELECT boardreadyops_defer_publication($1, 1, $2, '', 1)", publication_id, error_class
        )
        for publication_id, error_class in ((claimed.publication_id, "odd"), (999, "gone"))
    ]
    assert outcomes == ["invalid", "not_found"]


async def test_scenario_38_the_check_is_told_what_the_runner_must_be_able_to_do(world: World) -> None:
    run_id = await world.opened()
    assert (await world.publication(run_id))["payload"]["needs"] == []
    grant = await world.claimed()
    answer = await world.answer("relinquish_runner_lease", grant.lease_id, "capability", "", ["kicad>=9"])
    assert answer == "accepted"
    assert (await world.publication(run_id))["payload"]["needs"] == ["kicad>=9"]
    far = await world.owner.fetchval("SELECT now() + '1 year'::interval")
    await world.call("sweep_deadlines", 10, None, far)
    payload = (await world.publication(run_id))["payload"]
    assert (payload["reason_code"], payload["needs"]) == ("queue_deadline_exceeded", ["kicad>=9"])


async def test_what_is_given_back_unsent_does_not_count_as_a_send(world: World) -> None:
    await world.opened()
    for sent, counted in ((False, 0), (True, 1), (False, 1)):
        await world.owner.execute("UPDATE publications SET available_at = now() - interval '1 second'")
        (claim,) = await world.call("claim_publications", 10, 60, 60)
        deferred = ("transient", "crowded: others first", 0, None, sent)
        answer = await world.answer(
            "defer_publication", claim["publication_id"], claim["generation"], *deferred
        )
        assert answer == "applied"
        assert await world.owner.fetchval("SELECT send_count FROM publications") == counted


async def test_an_effect_that_is_given_back_unsent_does_not_count_as_a_send(world: World) -> None:
    await world.execute_by("actions")
    await world.opened()
    await world.owner.execute("UPDATE outbox SET available_at = now()")
    await world.owner.execute(
        "INSERT INTO outbox (kind, installation_id, repository_id, ref, available_at, created_at)"
        " VALUES ('confirm_ref', 1, 10, 'refs/heads/main', now(), now())"
    )
    for sent, counted in ((False, 0), (True, 1)):
        (claim,) = [one for one in await world.call("claim_outbox", 10, 60) if one["kind"] == "confirm_ref"]
        answer = await world.answer(
            "defer_outbox", claim["effect_id"], claim["generation"], "crowded", 0, None, sent
        )
        assert answer == "applied"
        stored = "SELECT send_count FROM outbox WHERE kind = 'confirm_ref'"
        assert await world.owner.fetchval(stored) == counted


async def test_a_stage_is_told_of_a_running_run_with_a_lease_that_lives(world: World) -> None:
    run_id = await world.opened()
    grant = await world.claimed()
    told = "SELECT boardreadyops_publication_payload(run) ->> 'stage' FROM release_runs AS run WHERE id = $1"
    await world.opened(number=2)
    await world.call("heartbeat_runner_lease", (await world.claimed()).lease_id, "running", 1, "")
    assert await world.owner.fetchval(told, run_id) == "claimed"
    async with undone(world.owner):
        await world.owner.execute(
            "UPDATE runner_leases SET (state, ended_at) = ('expired', now()) WHERE id = $1", grant.lease_id
        )
        assert await world.owner.fetchval(told, run_id) is None
    async with undone(world.owner):
        await world.owner.execute("UPDATE release_runs SET status = 'queued' WHERE id = $1", run_id)
        assert await world.owner.fetchval(told, run_id) is None


@asynccontextmanager
async def undone(connection: Connection) -> AsyncIterator[None]:
    """What a test changes by hand to see an answer, and takes back."""
    transaction = connection.transaction()
    await transaction.start()
    yield
    await transaction.rollback()
