from datetime import timedelta

import pytest

from boardreadyops.db.pool import Record
from boardreadyops.standin.state import Repository
from tests.worker.conftest import Scene, utc_now

PULL = "/repos/*/pulls/*"


async def effect(scene: Scene) -> Record:
    row = await scene.owner.fetchrow("SELECT * FROM outbox ORDER BY id DESC")
    assert row is not None
    return row


async def heads(scene: Scene) -> dict[str, str]:
    rows = await scene.owner.fetch("SELECT commit_sha, status FROM release_runs")
    return {row["commit_sha"]: row["status"] for row in rows}


async def asked(scene: Scene, repository: Repository) -> tuple[str, str]:
    """Two different words about the pull request at the same second: only GitHub knows which is the newer."""
    now = utc_now().replace(microsecond=0)
    first, second = scene.commit(repository, "first"), scene.commit(repository, "second")
    opened = await scene.github.open_pull_request(
        repository, head_commit=first, updated_at=now, sending="lose"
    )
    pushed = await scene.github.push_to_pull_request(
        repository, 1, head_commit=second, updated_at=now, sending="lose"
    )
    await scene.take(opened)
    enqueued = await scene.take(pushed)
    assert enqueued is not None
    assert enqueued.confirm_requested
    return first, second


async def test_a_confirm_takes_githubs_word_for_the_head(scene: Scene) -> None:
    first, second = await asked(scene, scene.repository())
    await scene.relay.run_once()
    assert (await effect(scene))["outcome_code"] == "confirmed"
    assert await heads(scene) == {first: "superseded", second: "queued"}


async def test_a_confirm_of_a_pull_request_closed_meanwhile_cancels_its_run(scene: Scene) -> None:
    repository = scene.repository()
    first, _ = await asked(scene, repository)
    await scene.github.close_pull_request(
        repository, 1, updated_at=utc_now() + timedelta(seconds=5), sending="lose"
    )
    await scene.relay.run_once()
    assert (await effect(scene))["outcome_code"] == "confirmed"
    assert await heads(scene) == {first: "cancelled"}


async def test_a_ref_that_moves_on_while_it_is_looked_up_is_looked_up_again(scene: Scene) -> None:
    repository = scene.repository()
    await asked(scene, repository)
    held = scene.github.faults.hold("GET", PULL)
    claimed = await scene.start()
    await held.struck.wait()
    third = scene.commit(repository, "third")
    pushed = await scene.github.push_to_pull_request(
        repository, 1, head_commit=third, updated_at=utc_now() + timedelta(seconds=5), sending="lose"
    )
    await scene.take(pushed)
    held.release.set()
    await claimed
    row = await effect(scene)
    assert (row["settled_at"], row["claimed_until"]) == (None, None)
    assert row["last_error"].startswith("moved_on")
    await scene.hurry()
    await scene.relay.run_once()
    assert (await effect(scene))["outcome_code"] == "confirmed"
    assert (await heads(scene))[third] == "queued"


async def test_a_ref_that_always_moves_on_is_not_asked_for_ever(scene: Scene) -> None:
    repository = scene.repository()
    await asked(scene, repository)
    await scene.owner.execute("UPDATE outbox SET send_count = 19")
    held = scene.github.faults.hold("GET", PULL)
    claimed = await scene.start()
    await held.struck.wait()
    await scene.owner.execute("UPDATE refs SET observation = observation + 1")
    held.release.set()
    await claimed
    assert (await effect(scene))["outcome_code"] == "moved_on"


@pytest.mark.parametrize("status", [404, 410])
async def test_a_pull_request_that_is_gone_settles_the_confirm(scene: Scene, status: int) -> None:
    await asked(scene, scene.repository())
    scene.github.faults.answer("GET", PULL, status=status)
    await scene.relay.run_once()
    assert (await effect(scene))["outcome_code"] == "gone"


@pytest.mark.parametrize(
    ("status", "body"), [(500, None), (403, None), (200, {}), (200, {"number": 1}), (200, ["x"])]
)
async def test_any_other_answer_is_asked_for_again_later(scene: Scene, status: int, body: object) -> None:
    await asked(scene, scene.repository())
    scene.github.faults.answer("GET", PULL, status=status, body=body)
    await scene.relay.run_once()
    row = await effect(scene)
    assert row["settled_at"] is None
    assert row["available_at"] > utc_now()
    await scene.hurry()
    await scene.relay.run_once()
    assert (await effect(scene))["outcome_code"] == "confirmed"
