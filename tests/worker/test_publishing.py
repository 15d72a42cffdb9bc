import asyncio
from random import Random
from uuid import UUID

import pytest

from boardreadyops.db.publications import claim_publications
from boardreadyops.db.runs import cancel_release_run
from boardreadyops.worker.relay import Relay
from tests.worker.conftest import INSTALLATION_ID, OTHER_INSTALLATION_ID, PUBLIC_URL, Scene, utc_now

CHECKS = "/repos/*/check-runs"
CHECK = "/repos/*/check-runs/*"


async def cancel(scene: Scene, run_id: UUID, by: str = "mira") -> None:
    async with scene.app.connection() as connection:
        cancelled = await cancel_release_run(
            connection,
            installation_id=INSTALLATION_ID,
            release_run_id=run_id,
            reason_code="cancelled_by_user",
            cancelled_by=by,
        )
    assert cancelled.outcome == "applied"


def served(scene: Scene, method: str, end: str) -> int:
    return sum(one.method == method and one.path.endswith(end) for one in scene.github.served)


async def settled(scene: Scene, run_id: UUID) -> bool:
    row = await scene.publication(run_id)
    return bool(row["acked_seq"] == row["desired_seq"] and not row["leased"] and not row["doubtful"])


async def test_a_new_run_gets_its_check_and_later_states_update_it(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    assert await scene.relay.run_once() == 1
    [check] = scene.github.check_runs
    assert (check["name"], check["status"], check["external_id"]) == (
        "BoardReadyOps",
        "queued",
        f"{run_id}:0:0",
    )
    assert check["details_url"] == f"{PUBLIC_URL}/runs/{run_id}"
    assert check["output"]["title"] == "Waiting for a runner"
    assert await settled(scene, run_id)

    await cancel(scene, run_id)
    assert await scene.relay.run_once() == 1
    [check] = scene.github.check_runs
    assert (check["status"], check["conclusion"]) == ("completed", "neutral")
    assert check["output"]["title"] == "Cancelled by mira"
    assert await scene.relay.run_once() == 0


async def test_nothing_is_sent_twice_for_one_state(scene: Scene) -> None:
    await scene.opened(scene.repository())
    await scene.relay.run_once()
    assert await scene.relay.run_once() == 0
    assert served(scene, "POST", "/check-runs") == 1


async def test_a_check_created_with_its_answer_lost_is_found_again_and_not_created_twice(
    scene: Scene,
) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    scene.github.faults.drop("POST", CHECKS)
    await scene.relay.run_once()
    assert (await scene.publication(run_id))["doubtful"]
    assert await scene.relay.run_once() == 0, "doubt must have passed first"
    await scene.hurry()
    await scene.relay.run_once()
    assert len(scene.github.check_runs) == 1
    assert (await scene.publication(run_id))["check_run_id"] == scene.github.check_runs[0]["id"]
    assert await settled(scene, run_id)
    assert served(scene, "POST", "/check-runs") == 1


@pytest.mark.parametrize("recorded", ["created", "not created"])
async def test_a_relay_killed_in_mid_send_is_followed_by_one_that_looks_first(
    scene: Scene, recorded: str
) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    async with scene.app.connection() as connection:
        [claim] = await claim_publications(connection, limit=1, lease_seconds=35, doubt_seconds=60)
    if recorded == "created":
        # The dead relay's request was executed; its answer and its acknowledgement died with it.
        await scene.github_create(repository, claim.external_id, claim.commit_sha)
    await scene.hurry()
    second = Relay(scene.app, scene.client, public_url=PUBLIC_URL, clock=utc_now, rng=Random(8))
    assert await second.run_once() == 1
    assert len(scene.github.check_runs) == 1
    assert (await scene.publication(run_id))["check_run_id"] == scene.github.check_runs[0]["id"]
    assert await settled(scene, run_id)


async def test_checks_made_twice_end_with_the_same_words_and_the_newest_is_ours(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    async with scene.app.connection() as connection:
        [claim] = await claim_publications(connection, limit=1, lease_seconds=35, doubt_seconds=60)
    for _ in range(2):
        await scene.github_create(repository, claim.external_id, claim.commit_sha)
    await cancel(scene, run_id)
    await scene.hurry()
    await scene.relay.run_once()
    assert scene.checks(repository) == [("completed", "neutral")] * 2
    assert (await scene.publication(run_id))["check_run_id"] == max(
        one["id"] for one in scene.github.check_runs
    )


async def test_the_newest_state_wins_when_it_moved_on_while_a_send_was_under_way(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    held = scene.github.faults.hold("POST", CHECKS)
    claimed = await scene.start()
    await held.struck.wait()
    await cancel(scene, run_id)
    held.release.set()
    await claimed
    assert scene.checks(repository) == [("queued", None)]
    await scene.relay.run_once()
    assert scene.checks(repository) == [("completed", "neutral")]
    assert await settled(scene, run_id)


async def test_a_fenced_off_relay_neither_acknowledges_nor_creates_a_second_check(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    held = scene.github.faults.hold("POST", CHECKS)
    slow = await scene.start()
    await held.struck.wait()
    await scene.hurry()
    async with scene.app.connection() as connection:
        [claim] = await claim_publications(connection, limit=1, lease_seconds=35, doubt_seconds=60)
    assert claim.doubtful
    held.release.set()
    await slow
    assert (await scene.publication(run_id))["acked_seq"] == 0
    await scene.hurry()
    await scene.relay.run_once()
    assert len(scene.github.check_runs) == 1
    assert await settled(scene, run_id)


async def test_an_old_token_in_mid_flight_is_replaced(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    await scene.relay.run_once()
    await cancel(scene, run_id)
    scene.github.revoke_tokens(INSTALLATION_ID)
    await scene.relay.run_once()
    assert scene.checks(repository) == [("completed", "neutral")]


async def test_a_502_on_an_update_waits_for_the_doubt_then_reads_first(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    await scene.relay.run_once()
    await cancel(scene, run_id)
    scene.github.faults.answer("PATCH", CHECK, status=502)
    await scene.relay.run_once()
    row = await scene.publication(run_id)
    assert (row["doubtful"], row["leased"]) == (True, True)
    assert row["last_error"].startswith("server_error: PATCH answered 502")
    await scene.hurry()
    await scene.relay.run_once()
    assert scene.checks(repository) == [("completed", "neutral")]
    assert served(scene, "GET", "/check-runs") == 1


async def test_an_update_executed_with_its_answer_lost_is_not_sent_again(scene: Scene) -> None:
    repository = scene.repository()
    run_id = await scene.opened(repository)
    await scene.relay.run_once()
    await cancel(scene, run_id)
    scene.github.faults.drop("PATCH", CHECK)
    await scene.relay.run_once()
    await scene.hurry()
    await scene.relay.run_once()
    assert sum(one.method == "PATCH" for one in scene.github.served) == 1
    assert await settled(scene, run_id)


async def test_a_rate_limit_delays_only_its_installation(scene: Scene) -> None:
    limited, free = scene.repository("amp"), scene.repository("psu", OTHER_INSTALLATION_ID)
    scene.github.faults.answer(
        "POST", f"/repos/{limited.full_name}/check-runs", status=403, headers={"retry-after": "120"}
    )
    first = await scene.opened(limited, number=1)
    await scene.relay.run_once()
    second = await scene.opened(limited, number=2)
    other = await scene.opened(free)
    await scene.relay.run_once()
    assert await settled(scene, other)
    assert not scene.checks(limited)
    for run_id in (first, second):
        row = await scene.publication(run_id)
        wait = (row["available_at"] - utc_now()).total_seconds()
        assert 100 < wait < 130
        assert row["last_error"].startswith("rate_limited")
    assert served(scene, "POST", f"{limited.full_name}/check-runs") == 1, "the second was not even tried"


@pytest.mark.parametrize(
    ("status", "closed"), [(404, "gone"), (410, "gone"), (403, None), (500, None), (429, None)]
)
async def test_only_what_is_gone_closes_a_publication(scene: Scene, status: int, closed: str | None) -> None:
    run_id = await scene.opened(scene.repository())
    scene.github.faults.answer("POST", CHECKS, status=status)
    await scene.relay.run_once()
    assert (await scene.publication(run_id))["closed_code"] == closed


async def test_an_uninstalled_app_closes_and_a_suspended_one_waits(scene: Scene) -> None:
    gone, waiting = scene.repository("amp"), scene.repository("psu", OTHER_INSTALLATION_ID)
    closed, kept = await scene.opened(gone), await scene.opened(waiting)
    await scene.github.uninstall(INSTALLATION_ID, sending="lose")
    await scene.github.suspend(OTHER_INSTALLATION_ID, sending="lose")
    await scene.relay.run_once()
    assert (await scene.publication(closed))["closed_code"] == "gone"
    await scene.github.unsuspend(OTHER_INSTALLATION_ID, sending="lose")
    await scene.hurry()
    await scene.relay.run_once()
    assert await settled(scene, kept)


async def test_a_superseded_run_names_its_successor_on_its_own_check(scene: Scene) -> None:
    repository = scene.repository()
    await scene.opened(repository)
    await scene.relay.run_once()
    newer = scene.commit(repository, "newer")
    later = utc_now().replace(microsecond=0)
    delivery = await scene.github.push_to_pull_request(
        repository, 1, head_commit=newer, updated_at=later.replace(year=later.year + 1), sending="lose"
    )
    await scene.take(delivery)
    await scene.relay.run_once()
    titles = {one["head_sha"] == newer: one["output"]["title"] for one in scene.github.check_runs}
    assert titles == {False: f"Replaced by commit {newer[:7]}", True: "Waiting for a runner"}


async def test_a_check_that_github_cannot_find_yet_is_tried_again_but_not_for_ever(scene: Scene) -> None:
    run_id = await scene.opened(scene.repository())
    await scene.relay.run_once()
    await cancel(scene, run_id)
    scene.github.faults.answer("PATCH", CHECK, status=404, count=2)
    await scene.relay.run_once()
    row = await scene.publication(run_id)
    assert (row["closed_code"], row["last_error"].partition(":")[0]) == (None, "check_missing")
    await scene.owner.execute("UPDATE publications SET send_count = 7")
    await scene.hurry()
    await scene.relay.run_once()
    assert (await scene.publication(run_id))["closed_code"] == "gone"


async def test_relays_side_by_side_make_one_check_for_each_run(scene: Scene) -> None:
    repository = scene.repository()
    for number in range(1, 9):
        await scene.opened(repository, number=number)
    relays = [Relay(scene.app, scene.client, public_url=PUBLIC_URL, clock=utc_now) for _ in range(3)]
    counts = await asyncio.gather(*(relay.run_once() for relay in relays))
    assert sum(counts) == 8
    assert len({one["external_id"] for one in scene.github.check_runs}) == len(scene.github.check_runs) == 8
