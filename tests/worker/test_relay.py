import asyncio
import logging
from random import Random

import pytest

from boardreadyops.worker.relay import Relay
from tests.worker.conftest import OTHER_INSTALLATION_ID, PUBLIC_URL, Scene, utc_now


async def until_checks(scene: Scene, count: int) -> None:
    await scene.github.check_run(lambda _: len(scene.github.check_runs) >= count, timeout_seconds=10)


async def test_a_hung_installation_stalls_no_other(scene: Scene) -> None:
    hung, free = scene.repository("amp"), scene.repository("psu", OTHER_INSTALLATION_ID)
    runs = [await scene.opened(hung, number=number) for number in range(1, 13)]
    held = scene.github.faults.hold("POST", f"/repos/{hung.full_name}/check-runs", count=12)
    running = asyncio.create_task(scene.relay.run())
    await held.struck.wait()
    await scene.opened(free)
    scene.relay.wake()
    await until_checks(scene, 1)
    assert scene.checks(free) == [("queued", None)]
    assert not scene.checks(hung)
    held.release.set()
    scene.relay.stop()
    await running
    assert len(scene.checks(hung)) == 8, "half of the places"
    counts = [(await scene.publication(run_id))["send_count"] for run_id in runs]
    assert counts == [0] * 12, "what found no place was never sent"


async def test_stopping_lets_the_sends_under_way_end(scene: Scene) -> None:
    run_id = await scene.opened(scene.repository())
    held = scene.github.faults.hold("POST", "/repos/*/check-runs")
    running = asyncio.create_task(scene.relay.run())
    await held.struck.wait()
    scene.relay.stop()
    held.release.set()
    await running
    row = await scene.publication(run_id)
    assert row["acked_seq"] == row["desired_seq"]


async def test_without_github_the_relay_says_so_once_and_claims_nothing(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = await scene.opened(scene.repository())
    relay = Relay(scene.app, None, public_url=PUBLIC_URL, clock=utc_now, poll_seconds=0.01)
    relay.stop()
    await relay.run()
    assert await relay.run_once() == 0
    assert [one.getMessage() for one in caplog.records if "relay_idle" in one.getMessage()]
    assert (await scene.publication(run_id))["generation"] == 0


async def test_a_lease_that_ends_before_its_requests_is_refused(scene: Scene) -> None:
    with pytest.raises(ValueError, match="lease"):
        Relay(scene.app, scene.client, public_url=PUBLIC_URL, clock=utc_now, lease_seconds=14, rng=Random(1))


async def test_each_send_leaves_one_line_with_its_lag_and_no_secret(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "boardreadyops")
    run_id = await scene.opened(scene.repository())
    scene.github.faults.answer("POST", "/repos/*/check-runs", status=503)
    await scene.relay.run_once()
    await scene.hurry()
    await scene.relay.run_once()
    lines = [one.getMessage() for one in caplog.records if one.name.startswith("boardreadyops.worker")]
    assert [line.split()[0] for line in lines] == ["event=send_failed", "event=sent"]
    assert f"run={run_id}" in lines[1]
    lag_seconds = float(lines[1].partition("lag_seconds=")[2])
    assert 0 <= lag_seconds < 60
    assert "ghs_" not in caplog.text


async def test_a_row_that_breaks_the_program_leaves_the_others_alone(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    poison, good = scene.repository("amp"), scene.repository("psu", OTHER_INSTALLATION_ID)
    broken, fine = await scene.opened(poison), await scene.opened(good)
    await scene.owner.execute(
        'UPDATE publications SET payload = payload || \'{"status": "nonsense"}\' WHERE release_run_id = $1',
        broken,
    )
    await scene.relay.run_once()
    assert (await scene.publication(fine))["acked_seq"] == 1
    assert (await scene.publication(broken))["leased"]
    assert "send_broken" in caplog.text


async def test_effects_of_a_kind_that_is_not_made_yet_are_settled_as_such(scene: Scene) -> None:
    repository = scene.repository()
    await scene.opened(repository)
    await scene.owner.execute(
        "INSERT INTO outbox (kind, installation_id, repository_id, ref, available_at, created_at)"
        " SELECT 'workflow_dispatch', installation_id, id, 'refs/pull/1/head', now(), now() FROM repositories"
    )
    await scene.relay.run_once()
    assert await scene.owner.fetchval("SELECT outcome_code FROM outbox") == "not_available"
