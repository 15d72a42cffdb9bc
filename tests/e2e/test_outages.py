"""Processes and the database die at any instant: nothing accepted is lost, nothing is done twice (scenarios 61, 13)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path

import httpx
import pytest

from boardreadyops.standin.webhooks import Delivery
from tests.e2e.ledger import assert_consistent, lifecycle_rows, settled
from tests.e2e.programs import Program
from tests.e2e.runners import HandRunner, hand_runner, register, reporting, start_runner
from tests.e2e.system import System, Tenant, open_system, run_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

BURST_SECONDS = 18.0
TENANTS = 3
PULL_REQUESTS = 3
END_BACKENDS = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'boardreadyops%'"
_SEED = "BOARDREADYOPS_TEST_SEED"


async def test_scenario_61_ended_backends_cost_a_repeat_and_nothing_else() -> None:
    async with open_system(GITHUB_TIMEOUT_SECONDS="1") as system:
        tenant = await system.tenant()
        runner = await hand_runner(tenant)
        _, first = await tenant.new_run()
        lease = await runner.claim()
        async with system.database() as owner:
            for _ in range(5):
                assert await owner.fetchval(END_BACKENDS) > 0
                lost = await tenant.open(tenant.commit(), lost=True)
                answer = await delivered(system, lost)
                assert answer.status in (200, 202)
        assert (await persistent(runner, lease)) in ("accepted", "replayed")
        await tenant.concluded(first, "success")
        await settled(system, [tenant])
        await assert_consistent(system, [tenant])
        assert "the relay broke" not in system.server.text


async def test_scenario_61_a_killed_postgresql_comes_back_without_a_person() -> None:
    async with open_system(GITHUB_TIMEOUT_SECONDS="1") as system:
        tenant = await system.tenant()
        runner = await hand_runner(tenant)
        _, first = await tenant.new_run()
        await tenant.check(first, lambda one: one["status"] == "queued")
        lease = await runner.claim()
        killed = system.postmaster().pid_file()
        assert killed is not None
        os.kill(killed.pid, signal.SIGKILL)
        second = tenant.commit()
        lost = await tenant.open(second, lost=True)
        while_away = await system.github.redeliver(lost.delivery_id)
        assert while_away.status in (200, 202, 503)
        assert (await delivered(system, lost)).status in (200, 202)
        assert (await persistent(runner, lease)) in ("accepted", "replayed")
        await tenant.concluded(first, "success")
        await tenant.check(second, lambda one: one["status"] == "queued")
        await settled(system, [tenant])
        await assert_consistent(system, [tenant])


async def test_scenario_61_a_restart_of_everything_keeps_everything(tmp_path: Path) -> None:
    async with open_system() as system:
        tenant = await system.tenant()
        run_id, first = await tenant.new_run()
        await tenant.check(first, lambda one: one["status"] == "queued")
        state = await register(tenant, tmp_path)
        assert await system.server.stop() == 0
        assert not system.postmaster().is_live()
        refused = await tenant.open(tenant.commit())
        assert (refused.status, refused.answer) == (None, None)
        await system.restart()
        runner = await start_runner(tenant, tmp_path, state, reporting(tmp_path))
        await tenant.concluded(first, "success")
        again = await system.github.redeliver(refused.delivery_id)
        assert again.answer["actions"][0]["outcome"] == "created"
        await tenant.concluded(refused.payload["pull_request"]["head"]["sha"], "success")
        assert (await system.run(run_id))["decision"] == "pass"
        await runner.stop()
        await assert_consistent(system, [tenant])


async def test_scenario_13_what_was_answered_503_is_made_good_by_redelivery_without_duplicates() -> None:
    async with open_system() as system:
        tenant = await system.tenant()
        before = await tenant.open(tenant.commit())
        async with system.database() as owner:
            await owner.execute("ALTER ROLE boardreadyops_app NOLOGIN")
            await owner.fetchval(END_BACKENDS)
            refused = [await tenant.open(tenant.commit()) for _ in range(4)]
            told = [await system.github.redeliver(before.delivery_id), *refused]
            await owner.execute("ALTER ROLE boardreadyops_app LOGIN")
        assert {(one.status, one.answer["code"]) for one in told} == {(503, "database_unavailable")}
        for delivery in (before, *refused, *refused):
            assert (await delivered(system, delivery)).status in (200, 202)
        assert len(await tenant.runs()) == 5
        await settled(system, [tenant])
        await assert_consistent(system, [tenant])


async def test_kills_at_random_during_a_burst_lose_and_double_nothing(tmp_path: Path) -> None:
    seed = int(os.environ.get(_SEED) or random.SystemRandom().randrange(10**6))
    print(f"seed {seed}: set {_SEED}={seed} to choose the same kills")
    chance = random.Random(seed)
    async with open_system(GITHUB_TIMEOUT_SECONDS="1") as system:
        tenants = [await system.tenant() for _ in range(TENANTS)]
        runners = []
        for number, tenant in enumerate(tenants):
            folder = tmp_path / str(number)
            folder.mkdir()
            runners.append(Keeper(tenant, folder, await register(tenant, folder)))
        for keeper in runners:
            await keeper.start()
        over = asyncio.Event()
        asyncio.get_running_loop().call_later(BURST_SECONDS, over.set)
        async with asyncio.TaskGroup() as group:
            changing = [
                group.create_task(changes(tenant, random.Random(chance.random()), over)) for tenant in tenants
            ]
            group.create_task(kills(system, runners, chance, over))
        await settled(system, tenants)
        for keeper in runners:
            await keeper.end()
        await assert_consistent(system, tenants)
        for tenant, task in zip(tenants, changing, strict=True):
            known = {one["id"] for one in await tenant.runs()}
            assert {run_of(one) for one in task.result()} <= known
        before = await lifecycle_rows(system)
        for delivery in {one.delivery_id: one for one in system.github.deliveries}.values():
            answer = await system.github.redeliver(delivery.delivery_id)
            assert (answer.status, answer.answer["status"]) == (200, "duplicate")
        assert await lifecycle_rows(system) == before
        said = "\n".join(one.text for one in (*system.ended_servers, system.server))
        assert "Traceback" not in said
        assert " ERROR " not in said, [line for line in said.splitlines() if " ERROR " in line]
        assert system.github.violations == []


class Keeper:
    """A runner that is started again whenever it was killed."""

    def __init__(self, tenant: Tenant, folder: Path, state: Path) -> None:
        self.tenant = tenant
        self.folder = folder
        self.state = state
        self.program: Program | None = None

    async def start(self) -> None:
        self.program = await start_runner(self.tenant, self.folder, self.state, reporting(self.folder))

    async def kill(self) -> None:
        assert self.program is not None
        await self.program.kill()
        await self.start()

    async def end(self) -> None:
        assert self.program is not None
        await self.program.kill()


async def changes(tenant: Tenant, chance: random.Random, over: asyncio.Event) -> list[Delivery]:
    """Push, push back, close and reopen pull requests until it is over; each delivery that was accepted for a run."""
    github, accepted = tenant.system.github, []
    commits = [tenant.commit() for _ in range(PULL_REQUESTS * 3)]
    for number in range(1, PULL_REQUESTS + 1):
        lost = await tenant.open(commits[number], number=number, lost=True)
        accepted.append(await delivered(tenant.system, lost))
    while not over.is_set():
        number, choice = chance.randint(1, PULL_REQUESTS), chance.random()
        moment = tenant.system.clock.tick()
        if choice < 0.15:
            lost = await github.close_pull_request(
                tenant.repository, number, updated_at=moment, sending="lose"
            )
        elif choice < 0.3:
            lost = await github.reopen_pull_request(
                tenant.repository, number, updated_at=moment, sending="lose"
            )
        else:
            lost = await github.push_to_pull_request(
                tenant.repository,
                number,
                head_commit=chance.choice(commits),
                updated_at=moment,
                sending="lose",
            )
        answer = await delivered(tenant.system, lost)
        if any(one["kind"] == "enqueue" for one in answer.answer["actions"]):
            accepted.append(answer)
        with_pause = asyncio.create_task(over.wait())
        await asyncio.wait({with_pause}, timeout=chance.uniform(0.05, 0.5))
        with_pause.cancel()
    for number, pull in tenant.repository.pulls.items():
        if pull.state == "closed":
            moment = tenant.system.clock.tick()
            lost = await github.reopen_pull_request(
                tenant.repository, number, updated_at=moment, sending="lose"
            )
            accepted.append(await delivered(tenant.system, lost))
    return accepted


async def kills(system: System, runners: list[Keeper], chance: random.Random, over: asyncio.Event) -> None:
    """SIGKILL somebody every second or so; a killed server is started again."""
    while not over.is_set():
        waiting = asyncio.create_task(over.wait())
        await asyncio.wait({waiting}, timeout=chance.uniform(0.3, 2.0))
        waiting.cancel()
        match chance.choice(("serve", "serve", "postmaster", "backend", "runner")):
            case "serve":
                await system.server.kill()
                await system.restart(patience=4)
            case "postmaster":
                found = system.postmaster().pid_file()
                if found is not None and system.postmaster().is_live():
                    os.kill(found.pid, signal.SIGKILL)
            case "backend":
                found = system.postmaster().pid_file()
                for pid in children(found.pid) if found is not None else []:
                    if chance.random() < 0.3:
                        _kill(pid)
            case _:
                await chance.choice(runners).kill()


def children(pid: int) -> list[int]:
    """The processes that this one has started."""
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


async def delivered(system: System, lost: Delivery) -> Delivery:
    """A delivery sent until it is answered as taken, as GitHub's redelivery does."""
    async with asyncio.timeout(60):
        while True:
            answer = await system.github.redeliver(lost.delivery_id)
            if answer.status in (200, 202):
                return answer
            assert answer.status in (None, 503), (answer.status, answer.answer)
            await reachable(system)


async def reachable(system: System) -> None:
    """Wait until the server says that it is ready; one that was killed is started again by whoever killed it."""
    while True:
        try:
            if (await system.client.get("/readyz")).status_code == 200:
                return
        except httpx.TransportError:
            server = system.server
            try:
                await server.line("BoardReadyOps is at")
            except AssertionError:
                await server.ended()


async def persistent(runner: HandRunner, lease: dict[str, str]) -> str:
    """Report until there is an answer, as a runner does."""
    async with asyncio.timeout(60):
        while True:
            answer = await runner.report(lease)
            if answer.status_code != 503:
                outcome: str = answer.json()["outcome"]
                return outcome
            await reachable(runner.system)
