"""Reading checks back: what was told stays told, and what GitHub froze is told in a check of its own."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal
from uuid import UUID

import pytest

from boardreadyops.db.publications import DueVerification, claim_verifications, record_verification
from tests.sql.conftest import SHA_A, World
from tests.sql.test_cancel_release_run import cancel


async def claim_due(world: World) -> tuple[DueVerification, ...]:
    async with world.app.transaction() as connection:
        return await claim_verifications(connection, limit=10, lease_seconds=60)


async def record(
    world: World, due: DueVerification, finding: Literal["same", "different", "frozen", "gone"]
) -> str:
    async with world.app.transaction() as connection:
        return await record_verification(
            connection, publication_id=due.publication_id, seq=due.seq, finding=finding
        )


async def told_run(world: World, *, number: int = 1) -> UUID:
    """A run whose state GitHub holds and whose check is due to be read back."""
    run_id = await world.opened(number=number)
    await world.published(first_check_run_id=500 + 10 * number)
    await world.owner.execute("UPDATE publications SET verify_at = now() WHERE release_run_id = $1", run_id)
    return run_id


async def test_a_due_check_is_handed_out_once_per_lease_with_what_it_should_tell(world: World) -> None:
    run_id = await told_run(world)
    (due,) = await claim_due(world)
    assert (due.seq, due.check_run_id, due.installation_id, due.ordinal) == (1, 510, 1, 0)
    assert (due.repository_owner, due.repository_name) == ("acme", "power-board")
    assert (due.release_run_id, due.external_id) == (run_id, f"{run_id}:0:0")
    assert due.payload["status"] == "queued"
    assert await claim_due(world) == ()
    later = await world.owner.fetchval("SELECT verify_at FROM publications")
    assert len(await world.call("claim_verifications", 10, 60, later)) == 1


@pytest.mark.parametrize(
    "why", ["not due", "nothing asked", "more to tell", "closed", "being sent", "held elsewhere"]
)
async def test_what_is_not_due_is_not_handed_out(world: World, why: str) -> None:
    run_id = await told_run(world)
    match why:
        case "not due":
            await world.owner.execute("UPDATE publications SET verify_at = now() + interval '1 hour'")
        case "nothing asked":
            await world.owner.execute("UPDATE publications SET verify_at = NULL")
        case "more to tell":
            await cancel(world, run_id)
        case "closed":
            await world.owner.execute("UPDATE publications SET closed_code = 'gone'")
        case "being sent":
            await world.owner.execute("UPDATE publications SET leased = true")
        case _:
            async with world.owner.transaction():
                await world.owner.execute("SELECT FROM publications FOR UPDATE")
                assert await claim_due(world) == ()
            return
    before = await world.everything()
    assert await claim_due(world) == ()
    assert await world.everything() == before


async def test_no_more_than_the_limit_is_handed_out_longest_due_first(world: World) -> None:
    first, second = await told_run(world, number=1), await told_run(world, number=2)
    taken = [(await world.call("claim_verifications", 1, 60))[0]["release_run_id"] for _ in range(2)]
    assert taken == [first, second]


async def test_the_same_word_settles_the_look(world: World) -> None:
    run_id = await told_run(world)
    (due,) = await claim_due(world)
    before = await world.publication(run_id)
    assert await record(world, due, "same") == "applied"
    after = await world.publication(run_id)
    assert {**dict(before), "verify_at": None} == dict(after)
    assert await world.published() == []


async def test_a_different_word_is_told_again(world: World) -> None:
    run_id = await told_run(world)
    (due,) = await claim_due(world)
    assert await record(world, due, "different") == "applied"
    row = await world.publication(run_id)
    assert (row["desired_seq"], row["acked_seq"], row["verify_at"], row["closed_code"]) == (2, 1, None, None)
    assert await world.published() == [due.publication_id]
    assert await record(world, due, "different") == "stale"


@pytest.mark.parametrize("finding", ["frozen", "gone"])
async def test_a_frozen_or_lost_check_is_followed_by_the_next_ordinal(
    world: World, finding: Literal["frozen", "gone"]
) -> None:
    run_id = await told_run(world)
    (due,) = await claim_due(world)
    assert await record(world, due, finding) == "applied"
    earlier, newer = await world.owner.fetch("SELECT * FROM publications ORDER BY ordinal")
    assert (earlier["closed_code"], earlier["verify_at"], earlier["desired_seq"]) == (finding, None, 1)
    assert (newer["ordinal"], newer["external_id"], newer["check_run_id"]) == (1, f"{run_id}:0:1", None)
    for column in ("payload", "check_name", "commit_sha", "retry_id", "retry_number"):
        assert newer[column] == earlier[column]
    assert await world.published() == [newer["id"]]
    before = await world.everything()
    assert await record(world, due, finding) == "stale"
    assert await world.everything() == before


async def test_unknown_rows_findings_and_sequences_are_refused(world: World) -> None:
    await told_run(world)
    (due,) = await claim_due(world)
    before = await world.everything()
    for arguments, outcome in (
        ((999, 1, "same"), "not_found"),
        ((999, 1, "odd"), "not_found"),
        ((due.publication_id, due.seq, "odd"), "invalid"),
        ((due.publication_id, due.seq, None), "invalid"),
        ((due.publication_id, 7, "odd"), "invalid"),
        ((due.publication_id, due.seq + 1, "gone"), "stale"),
        ((due.publication_id, None, "gone"), "stale"),
    ):
        assert await world.answer("record_verification", *arguments) == outcome
    assert await world.everything() == before


async def test_what_changed_since_the_look_makes_it_stale(world: World) -> None:
    run_id = await told_run(world)
    (due,) = await claim_due(world)
    await cancel(world, run_id)
    before = await world.everything()
    assert await record(world, due, "gone") == "stale"
    assert await world.everything() == before


async def test_a_neutral_on_a_commit_that_heads_another_ref_has_the_verdict_there_told_last(
    world: World,
) -> None:
    first, second = await world.opened(SHA_A, number=1), await world.opened(SHA_A, number=2)
    for row in range(2):
        assert len(await world.published(first_check_run_id=500 + row)) == 1
    await cancel(world, second)
    assert len(await world.published()) == 1
    newest = await world.publication(first)
    assert (newest["ordinal"], newest["payload"]["status"], newest["check_run_id"]) == (1, "queued", None)
    assert len(await world.published(first_check_run_id=600)) == 1
    await world.report(await world.claimed(), "completed", "fail")
    told = await world.owner.fetch("SELECT payload FROM publications WHERE release_run_id = $1", first)
    assert [row["payload"]["decision"] for row in told] == ["fail", "fail"]
    assert (
        await world.owner.fetchval("SELECT count(*) FROM publications WHERE release_run_id = $1", second) == 1
    )


async def test_a_neutral_that_is_not_the_newest_check_is_left_alone(world: World) -> None:
    first, second = await world.opened(SHA_A, number=1), await world.opened(SHA_A, number=2)
    for row in range(2):
        await world.published(first_check_run_id=500 + row)
    older = first if (await world.publication(first))["check_run_id"] == 500 else second
    await cancel(world, older)
    await world.published()
    assert await world.count("publications") == 2


async def test_a_verification_waits_out_its_lease(world: World) -> None:
    run_id = await told_run(world)
    now = (await world.publication(run_id))["verify_at"]
    await world.call("claim_verifications", 10, 60, now)
    assert (await world.publication(run_id))["verify_at"] == now + timedelta(seconds=60)
