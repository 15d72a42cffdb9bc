"""Guards that many functions share: texts are cut, what is not there is told apart, what is settled stays settled."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from tests.sql.conftest import World, observation
from tests.sql.test_workflow_dispatch import claimed_dispatch


async def test_the_longest_reason_is_taken_and_no_reason_is_not(world: World) -> None:
    run_id, other = await world.opened(number=1), await world.opened(number=2)
    assert await world.answer("cancel_release_run", 1, run_id, None, "mira") == "invalid_transition"
    assert await world.answer("cancel_release_run", 1, run_id, "x" * 128, "mira") == "applied"
    key = other, "queued", 0, None, "cancelled"
    assert await world.answer("transition_release_run_state", *key, None) == "invalid_transition"
    assert await world.answer("transition_release_run_state", *key, "x" * 129) == "invalid_transition"
    assert await world.answer("transition_release_run_state", *key, "x" * 128) == "applied"


async def test_names_of_people_are_cut(world: World) -> None:
    run_id = await world.opened()
    await world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "m" * 201)
    assert (await world.run(run_id))["cancelled_by"] == "m" * 200
    fork = (await world.enqueue(replace(observation(number=2), trust_mode="fork"))).release_run_id
    await world.call("approve_release_run", 1, fork, "m" * 201)
    assert await world.owner.fetchval("SELECT approved_by FROM release_runs WHERE id = $1", fork) == "m" * 200


async def test_what_runners_and_github_say_is_cut(world: World) -> None:
    run_id = await world.opened()
    (row,) = await world.call("claim_publications", 10, 30, 60)
    key = row["publication_id"], row["generation"]
    await world.call("defer_publication", *key, "transient", "e" * 501, 5)
    assert (await world.publication(run_id))["last_error"] == "e" * 500
    await world.enqueue(observation("d" * 40, minute=-1))
    (effect,) = await world.effects()
    await world.call("defer_outbox", effect.effect_id, effect.generation, "e" * 501, 5)
    assert await world.owner.fetchval("SELECT last_error FROM outbox") == "e" * 500
    grant = await world.claimed()
    await world.call("heartbeat_runner_lease", grant.lease_id, "claimed", 1, "m" * 501)
    assert await world.owner.fetchval("SELECT message FROM runner_leases") == "m" * 500
    await world.call("relinquish_runner_lease", grant.lease_id, "capability", "r" * 501, ["n" * 201])
    assert await world.owner.fetchval("SELECT message FROM runner_leases") == "r" * 500
    assert (await world.run(run_id))["needs"] == ["n" * 200]


async def test_a_long_branch_name_is_cut_in_the_checks_name(world: World) -> None:
    ref = f"refs/heads/{'b' * 181}"
    await world.call("enqueue_pushed_ref", 1, 10, ref, "0" * 40, "a" * 40)
    assert await world.owner.fetchval("SELECT check_name FROM publications") == f"BoardReadyOps ({'b' * 180})"


@pytest.mark.parametrize(
    ("function", "arguments", "outcome"),
    [
        ("acknowledge_publication", (99, 1, 1), "not_found"),
        ("record_check_run", (99, 1, 5), "not_found"),
        ("record_verification", (99, 1, "same"), "not_found"),
        ("defer_outbox", (99, 1, "", 1), "not_found"),
        ("settle_outbox", (99, 1, "done"), "not_found"),
        ("acknowledge_workflow_dispatch", (99, 77, 1), "not_found"),
        ("give_up_workflow_dispatch", (99, 1, "silent"), "not_found"),
        ("relinquish_runner_lease", (UUID(int=9), "shutdown", "", []), "not_found"),
        ("revoke_runner", (UUID(int=9),), "not_found"),
        ("rotate_runner_token", (UUID(int=9), bytes(32)), "not_found"),
        ("reconcile_workflow_run", (10, None, 99, 1, "completed", 60), "not_found"),
    ],
)
async def test_what_is_not_there_is_not_found(
    world: World, function: str, arguments: tuple[object, ...], outcome: str
) -> None:
    await claimed_dispatch(world)
    before = await world.everything()
    assert await world.answer(function, *arguments) == outcome
    assert await world.everything() == before


async def test_an_unknown_lease_gets_no_row_and_an_unknown_registration_is_revoked(world: World) -> None:
    assert await world.call("heartbeat_runner_lease", uuid4(), "running", 1, "") == []
    assert await world.answer("claim_runner_lease", uuid4(), uuid4(), []) == "revoked"


@pytest.mark.parametrize("function", ["settle_outbox", "defer_outbox"])
async def test_an_effect_is_settled_or_deferred_by_its_claimer_alone_and_once(
    world: World, function: str
) -> None:
    await world.opened()
    await world.enqueue(observation("d" * 40, minute=-1))
    (effect,) = await world.effects()
    rest = ("confirmed",) if function == "settle_outbox" else ("HTTP 502", 9)
    before = await world.everything()
    for generation in (effect.generation - 1, effect.generation + 1, None):
        assert await world.answer(function, effect.effect_id, generation, *rest) == "stale"
    assert await world.everything() == before
    assert await world.answer("settle_outbox", effect.effect_id, effect.generation, "done") == "applied"
    before = await world.everything()
    assert await world.answer(function, effect.effect_id, effect.generation, *rest) == "stale"
    assert await world.everything() == before


@pytest.mark.parametrize("function", ["acknowledge_publication", "record_check_run", "defer_publication"])
async def test_a_publication_is_settled_by_its_claimer_alone_and_once(world: World, function: str) -> None:
    await world.opened()
    (row,) = await world.call("claim_publications", 10, 30, 60)
    rest = {
        "acknowledge_publication": (1,),
        "record_check_run": (5,),
        "defer_publication": ("transient", "", 9),
    }
    for generation in (row["generation"] - 1, row["generation"] + 1, None):
        assert await world.answer(function, row["publication_id"], generation, *rest[function]) == "stale"
    assert (
        await world.answer("acknowledge_publication", row["publication_id"], row["generation"], 1)
        == "applied"
    )
    assert await world.answer(function, row["publication_id"], row["generation"], *rest[function]) == "stale"


async def test_a_late_word_asks_for_a_look_now_and_never_later_than_was_asked(world: World) -> None:
    run_id = await world.opened()
    (row,) = await world.call("claim_publications", 10, 30, 60)
    now = row_time = await world.owner.fetchval("SELECT now()")
    for stored, expected in (
        (None, now),
        (row_time - timedelta(hours=1), row_time - timedelta(hours=1)),
        (row_time + timedelta(hours=1), now),
    ):
        await world.owner.execute("UPDATE publications SET verify_at = $1", stored)
        await world.call("acknowledge_publication", row["publication_id"], 0, 1, now)
        assert (await world.publication(run_id))["verify_at"] == expected


@pytest.mark.parametrize(("told", "stored"), [(0, 1), (1, 1), (2, 2), (9, 2)])
async def test_what_was_acknowledged_rises_and_never_beyond_what_was_desired(
    world: World, told: int, stored: int
) -> None:
    run_id = await world.opened()
    await world.published()
    await world.claimed()
    (row,) = await world.call("claim_publications", 10, 30, 60)
    assert row["seq"] == 2
    await world.call("acknowledge_publication", row["publication_id"], row["generation"], told)
    assert (await world.publication(run_id))["acked_seq"] == stored


BY_HAND = {"run": ("dispatched", None), "attempt": (None, "dispatched"), "both": ("dispatched", "dispatched")}


@pytest.mark.parametrize("moved", BY_HAND)
@pytest.mark.parametrize("word", ["dispatched", "in_progress"])
async def test_what_was_moved_by_hand_stays_and_what_is_behind_follows_github(
    world: World, word: str, moved: str
) -> None:
    dispatch = await claimed_dispatch(world)
    run_status, attempt_status = BY_HAND[moved]
    key = dispatch.run_id, "queued", 0, dispatch.attempt_id, run_status, "moved_by_hand", None
    assert (
        await world.answer("transition_release_run_state", *key, "dispatching", 1, attempt_status)
        == "applied"
    )
    before = await world.history(dispatch.run_id)
    if word == "dispatched":
        answer = await world.answer("acknowledge_workflow_dispatch", dispatch.effect_id, 77, 1)
        assert answer == ("existing" if moved == "both" else "applied")
        moves = [
            ("execution_attempt", "dispatching", "dispatched", "workflow_dispatched"),
            ("release_run", "queued", "dispatched", "workflow_dispatched"),
        ]
        expected = {"run": moves[:1], "attempt": moves[1:], "both": []}[moved]
    else:
        named = 10, dispatch.attempt_id, 77, 1, "in_progress", 60
        assert await world.answer("reconcile_workflow_run", *named) == "applied"
        expected = [
            ("execution_attempt", "dispatching", "dispatched", "workflow_dispatched"),
            ("execution_attempt", "dispatched", "in_progress", "workflow_reconciled"),
            ("release_run", run_status or "queued", "running", "workflow_reconciled"),
        ][0 if moved == "run" else 1 :]
    assert await world.history(dispatch.run_id) == [*before, *expected]
    assert (await world.publication(dispatch.run_id))["desired_seq"] == 2 + len(expected[:1])


async def test_a_run_already_running_is_not_started_twice(world: World) -> None:
    dispatch = await claimed_dispatch(world)
    key = dispatch.run_id, "queued", 0, dispatch.attempt_id, "running", "moved_by_hand", None
    assert await world.answer("transition_release_run_state", *key, "dispatching", 1, None) == "applied"
    named = 10, dispatch.attempt_id, 77, 1, "in_progress", 60
    assert await world.answer("reconcile_workflow_run", *named) == "applied"
    assert await world.answer("reconcile_workflow_run", *named) == "existing"
    assert (await world.run(dispatch.run_id))["version"] == 1
    assert (await world.attempt(dispatch.attempt_id))["status"] == "in_progress"


@pytest.mark.parametrize("moved", BY_HAND)
async def test_a_dispatch_that_was_moved_by_hand_is_not_given_up(world: World, moved: str) -> None:
    dispatch = await claimed_dispatch(world)
    run_status, attempt_status = BY_HAND[moved]
    key = dispatch.run_id, "queued", 0, dispatch.attempt_id, run_status, "moved_by_hand", None
    assert (
        await world.answer("transition_release_run_state", *key, "dispatching", 1, attempt_status)
        == "applied"
    )
    before = await world.history(dispatch.run_id)
    again = dispatch.effect_id, dispatch.generation, "refused"
    assert await world.answer("give_up_workflow_dispatch", *again) == "ended"
    assert await world.history(dispatch.run_id) == before


@pytest.mark.parametrize(("bound", "asked"), [(None, "conflict"), (78, "conflict"), (77, "existing")])
async def test_an_attempt_is_bound_to_one_workflow_run(world: World, bound: int | None, asked: str) -> None:
    dispatch = await claimed_dispatch(world)
    other = await world.opened(number=2)
    await world.published()
    if bound is None:  # another attempt has it
        await world.owner.execute(
            "UPDATE release_run_attempts SET workflow_run_id = 77, workflow_run_attempt = 1 WHERE release_run_id = $1",
            other,
        )
    else:
        assert await world.answer("acknowledge_workflow_dispatch", dispatch.effect_id, bound, 1) == "applied"
    assert await world.answer("acknowledge_workflow_dispatch", dispatch.effect_id, 77, 1) == asked
    cancels = await world.owed("workflow_cancel")
    assert [row["workflow_run_id"] for row in cancels] == ([77] if asked == "conflict" else [])


async def test_each_late_result_is_kept_once_by_attempt_and_digest(world: World) -> None:
    await world.opened()
    await world.opened("d" * 40, number=2)
    runner = await world.runner()
    grants = [await world.claimed(runner) for _ in (1, 2)]
    for grant in grants:
        assert (
            await world.answer("relinquish_runner_lease", grant.lease_id, "job_error", "", []) == "accepted"
        )
    audits = [
        (await world.report(grant, body=body)).audit_id
        for grant in grants
        for body in (b"one", b"one", b"two")
    ]
    assert len(set(audits)) == await world.count("runner_result_audit") == 4
    assert (audits[0], audits[3]) == (audits[1], audits[4])


async def test_at_its_maximum_a_lease_advances_no_stage(world: World) -> None:
    await world.opened()
    grant = await world.claimed()
    maximum = await world.owner.fetchval("SELECT maximum_expires_at FROM runner_leases")
    before = await world.everything()
    (beat,) = await world.call("heartbeat_runner_lease", grant.lease_id, "reporting", 1, "", maximum)
    assert (beat["lease_state"], beat["directive"]) == ("expired", "stop")
    assert await world.everything() == before
    just = maximum - timedelta(microseconds=1)
    (beat,) = await world.call("heartbeat_runner_lease", grant.lease_id, "reporting", 1, "", just)
    assert (beat["lease_state"], beat["directive"], beat["expires_in_seconds"]) == ("active", "continue", 0)
