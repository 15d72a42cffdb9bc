"""Runners that stop, or cannot do the work, hand their run on (scenario 43)."""

from __future__ import annotations

import asyncio
import signal
from asyncio import get_running_loop
from pathlib import Path

import pytest

from tests.e2e.programs import Pipe, Program, gone
from tests.e2e.runners import hanging, register, reporting, start_runner
from tests.e2e.system import Tenant

pytestmark = pytest.mark.asyncio(loop_scope="session")

STOP_SECONDS = 9.0  # under the 10 that `docker stop` gives


async def test_scenario_43_a_runner_that_is_stopped_hands_its_run_to_the_next(
    tenant: Tenant, tmp_path: Path, pipe: Pipe
) -> None:
    state = await register(tenant, tmp_path)
    run_id, sha = await tenant.new_run()
    runner = await start_runner(tenant, tmp_path, state, hanging(pipe.path))
    pids = [int(await pipe.line()), int(await pipe.line())]
    stopped_at = get_running_loop().time()
    assert await runner.stop() == 0
    assert get_running_loop().time() - stopped_at < STOP_SECONDS
    assert all(await asyncio.gather(*(gone(pid, timeout_seconds=0.1) for pid in pids)))
    assert list((tmp_path / "work").glob("*")) == []
    assert await tenant.system.reasons(run_id) == ["runner_lease_claimed", "runner_lease_relinquished"]
    assert (await tenant.system.run(run_id))["status"] == "queued"
    following = await start_runner(tenant, tmp_path, state, reporting(tmp_path))
    await tenant.concluded(sha, "success")
    assert await following.stop() == 0


async def test_a_second_sigterm_ends_at_once_and_takes_kicad_along(
    tenant: Tenant, tmp_path: Path, pipe: Pipe
) -> None:
    state = await register(tenant, tmp_path)
    await tenant.new_run()
    runner = await start_runner(tenant, tmp_path, state, f"trap '' TERM\n{hanging(pipe.path)}")
    pids = [int(await pipe.line()), int(await pipe.line())]
    runner.signal(signal.SIGTERM)
    await runner.line("stopping")
    told_at = get_running_loop().time()
    runner.signal(signal.SIGTERM)
    assert await runner.ended() == -signal.SIGTERM
    assert get_running_loop().time() - told_at < 1.5  # less than kicad-cli's time of grace
    assert all(await asyncio.gather(*(gone(pid, timeout_seconds=1) for pid in pids)))


async def test_a_runner_without_kicad_leaves_the_run_to_one_that_has_it(
    tenant: Tenant, tmp_path: Path
) -> None:
    state = await register(tenant, tmp_path)
    run_id, sha = await tenant.new_run()
    bare = await Program.start(
        *("runner", "once", "--state", str(state), "--kicad-cli", str(tmp_path / "nowhere")),
        *("--work-folder", str(tmp_path / "bare")),
        environment=tenant.system.environment,
    )
    assert await bare.ended() == 3
    assert "given back" in bare.text
    check = await tenant.check(sha, lambda one: one["status"] == "queued" and "kicad" in str(one["output"]))
    assert "kicad>=8" in str(check["output"])
    assert (await tenant.system.run(run_id))["status"] == "queued"
    able = await start_runner(tenant, tmp_path, state, reporting(tmp_path))
    await tenant.concluded(sha, "success")
    assert await able.stop() == 0
