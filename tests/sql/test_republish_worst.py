"""A neutral check that lands on a commit which heads another open ref does not hide that ref's verdict."""

from __future__ import annotations

from uuid import UUID

import pytest

from boardreadyops.db.metadata import put_repository
from boardreadyops.domain.identity import RepositoryFacts
from tests.sql.conftest import NOON, SHA_A, SHA_B, World, observation
from tests.sql.test_held_rows import meanwhile


async def tell(world: World, checks: dict[UUID, int]) -> None:
    """GitHub takes everything that is due; a run's first check gets its number from `checks`, the next ones thousands."""
    while rows := await world.call("claim_publications", 10, 30, 60):
        for row in rows:
            key = row["publication_id"], row["generation"]
            check_run_id = row["check_run_id"] or checks[row["release_run_id"]] + 1000 * row["ordinal"]
            assert await world.answer("record_check_run", *key, check_run_id) == "applied"
            assert await world.answer("acknowledge_publication", *key, row["seq"]) == "applied"


async def ended(world: World, number: int, verdict: str) -> UUID:
    """The run of a pull request at the shared commit: failed, passed, still open, cancelled."""
    run_id = await world.opened(SHA_A, number=number)
    if verdict in {"pass", "fail"}:
        await world.report(await world.claimed(), "completed", verdict)
    elif verdict == "error":
        await world.report(await world.claimed(), "failed", "error")
    elif verdict == "cancelled":
        await world.call("cancel_release_run", 1, run_id, "cancelled_by_user", "mira")
    return run_id


async def ordinals(world: World, *runs: UUID) -> list[int]:
    """The newest check of each run, counted from 0."""
    return [(await world.publication(run_id))["ordinal"] for run_id in runs]


async def superseded(world: World, run_id: UUID, number: int, checks: dict[UUID, int]) -> None:
    """A newer commit of that pull request makes the run's check neutral, and GitHub is told."""
    newer = await world.opened(SHA_B, number=number, minute=1)
    await tell(world, checks | {newer: 900})
    assert (await world.run(run_id))["superseded_by"] == newer


@pytest.mark.parametrize("verdict", ["pass", "fail", "error", "open"])
async def test_a_verdict_is_told_anew_after_a_neutral_check_of_the_same_commit(
    world: World, verdict: str
) -> None:
    authoritative = await ended(world, 1, verdict)
    neutral = await world.opened(SHA_A, number=2)
    checks = {authoritative: 100, neutral: 200}
    await tell(world, checks)
    assert await ordinals(world, authoritative, neutral) == [0, 0]
    await superseded(world, neutral, 2, checks)
    assert await ordinals(world, authoritative, neutral) == [1, 0]
    told = await world.publication(authoritative)
    assert (told["payload"]["status"], told["acked_seq"], told["check_run_id"]) == (
        (await world.run(authoritative))["status"],
        told["desired_seq"],
        1100,
    )


async def test_a_verdict_that_is_newer_than_the_neutral_check_stays(world: World) -> None:
    authoritative, neutral = await ended(world, 1, "fail"), await world.opened(SHA_A, number=2)
    checks = {authoritative: 200, neutral: 200}
    await tell(world, checks | {neutral: 100})
    await superseded(world, neutral, 2, checks)
    assert await ordinals(world, authoritative, neutral) == [0, 0]


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [(("pass", "fail"), 1), (("fail", "pass"), 0), (("open", "pass"), 0), (("pass", "open"), 1)],
)
async def test_the_worst_verdict_of_several_is_told(
    world: World, verdicts: tuple[str, str], worst: int
) -> None:
    # The one that stays open comes last, so that no claim takes its run.
    order = sorted((0, 1), key=lambda number: verdicts[number] == "open")
    runs = {number: await ended(world, 1 + number, verdicts[number]) for number in order}
    neutral = await world.opened(SHA_A, number=3)
    checks = {runs[0]: 100, runs[1]: 150, neutral: 200}
    await tell(world, checks)
    await superseded(world, neutral, 3, checks)
    assert await ordinals(world, runs[0], runs[1]) == [1 - worst, worst]


@pytest.mark.parametrize("why", ["closed", "moved on", "cancelled", "another name", "another repository"])
async def test_what_is_no_verdict_of_an_open_ref_on_that_commit_is_not_told(world: World, why: str) -> None:
    other = await ended(world, 1, "cancelled" if why == "cancelled" else "fail")
    neutral = await world.opened(SHA_A, number=2)
    checks = {other: 100, neutral: 200}
    await tell(world, checks)
    if why == "closed":
        await world.owner.execute("UPDATE refs SET open = false WHERE pull_request_number = 1")
    elif why == "moved on":
        await world.owner.execute("UPDATE refs SET head_sha = $1 WHERE pull_request_number = 1", "d" * 40)
    elif why == "another name":
        await world.owner.execute(
            "UPDATE publications SET check_name = 'BoardReadyOps (main)' WHERE release_run_id = $1", other
        )
    elif why == "another repository":
        facts = RepositoryFacts(
            repository_id=11, owner="acme", name="other", private=True, default_branch="main"
        )
        async with world.app.transaction() as connection:
            await put_repository(connection, 1, facts, observed_at=NOON)
        await world.owner.execute("ALTER TABLE refs DISABLE TRIGGER ALL")
        await world.owner.execute("UPDATE refs SET repository_id = 11 WHERE pull_request_number = 1")
    await superseded(world, neutral, 2, checks)
    assert await ordinals(world, other, neutral) == [0, 0]


async def test_a_verdict_that_was_told_anew_is_told_anew_again_from_its_newest_check(world: World) -> None:
    authoritative = await ended(world, 1, "fail")
    second, third = await world.opened(SHA_A, number=2), await world.opened(SHA_A, number=3)
    checks = {authoritative: 100, second: 200, third: 1200}
    await tell(world, checks)
    await superseded(world, second, 2, checks)
    assert await ordinals(world, authoritative) == [1]
    await superseded(world, third, 3, checks)
    assert await ordinals(world, authoritative) == [2]
    await world.close(observation(SHA_B, number=3, minute=2))
    await tell(world, checks)
    assert await ordinals(world, authoritative) == [2], "its newest check is newer than any neutral one"


async def test_only_a_neutral_end_that_landed_whole_makes_it_told(world: World) -> None:
    authoritative, neutral = await ended(world, 1, "fail"), await world.opened(SHA_A, number=2)
    checks = {authoritative: 100, neutral: 200}
    await tell(world, checks)
    await world.report(await world.claimed(), "failed", "error")
    await tell(world, checks)
    assert await ordinals(world, authoritative, neutral) == [0, 0], "a failure is no neutral end"
    await world.call("retry_release_run", 1, neutral, 0)
    (row,) = await world.call("claim_publications", 10, 30, 60)
    await world.call("cancel_release_run", 1, neutral, "cancelled_by_user", "mira")
    key = row["publication_id"], row["generation"]
    assert await world.answer("record_check_run", *key, 300) == "applied"
    assert await world.answer("acknowledge_publication", *key, row["seq"]) == "applied"
    assert await ordinals(world, authoritative) == [0], "the neutral end itself is still to be told"
    await tell(world, checks)
    assert await ordinals(world, authoritative) == [1]


async def test_of_a_run_that_was_asked_anew_the_newest_asking_is_told(world: World) -> None:
    authoritative, neutral = await ended(world, 1, "fail"), await world.opened(SHA_A, number=2)
    checks = {authoritative: 100, neutral: 200}
    await tell(world, checks)
    await world.owner.execute("UPDATE publications SET ordinal = 5 WHERE release_run_id = $1", authoritative)
    await world.call("retry_release_run", 1, authoritative, 0)
    await tell(world, checks)
    await superseded(world, neutral, 2, checks)
    told = await world.owner.fetch(
        "SELECT retry_number, ordinal FROM publications WHERE release_run_id = $1 ORDER BY id", authoritative
    )
    assert [tuple(row) for row in told] == [(0, 5), (1, 0), (1, 1)]


async def test_telling_a_verdict_anew_waits_for_no_other_check(world: World) -> None:
    authoritative, neutral = await ended(world, 1, "fail"), await world.opened(SHA_A, number=2)
    await tell(world, {authoritative: 100, neutral: 200})
    other = await world.opened("d" * 40, number=3)
    await tell(world, {other: 300})
    await world.call("cancel_release_run", 1, neutral, "cancelled_by_user", "mira")
    (row,) = await world.call("claim_publications", 10, 30, 60)
    held = f"SELECT FROM publications WHERE release_run_id = '{other}' FOR UPDATE"
    landed = row["publication_id"], row["generation"], row["seq"]
    ((outcome,),) = await meanwhile(world, held, "acknowledge_publication", *landed)
    assert (outcome, await ordinals(world, authoritative)) == ("applied", [1])
