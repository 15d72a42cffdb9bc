"""A whole run: a server, what the tests cover, then mutant after mutant beside each other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from boardreadyops.config import Secret
from boardreadyops.db.cluster import with_database
from boardreadyops.db.migrate import migrate
from boardreadyops.db.pool import connect
from tools.mutate.covering import Coverage, Recorder, test_files, tracing_sql
from tools.mutate.mutants import Mutant
from tools.mutate.results import Result, Results, proof
from tools.mutate.tokens import Function
from tools.mutate.trial import POLL_SECONDS, Killer, Outcome, Trial, Unshrunk, begin, outcome_of

RACES = "tests/races/"
RECORDING_SECONDS = 3600.0
QUICK_TEST_SECONDS = 4.0  # slower ones, the model and the races, come when all quick ones passed
PATIENCE = 4.0  # times the recorded seconds
MORE_PATIENCE = 5.0  # times as much for a second try, on a machine that does other things, too
START_SECONDS = 15.0


class Refused(Exception):
    """PostgreSQL does not take a mutant: a mistake of an operator."""


@dataclass(slots=True)
class Course:
    """One server for all; `folder` holds what is kept between runs, `scratch` nothing that is."""

    root: Path
    folder: Path
    scratch: Path
    server: Secret
    workers: int
    _killers: dict[str, list[str]] = field(default_factory=dict)

    def record(self, functions: list[Function], *, anew: bool, races: bool) -> Coverage:
        """Run each test file that changed since it was recorded, with blocks that leave marks."""
        kept = self.folder / "coverage.json"
        coverage = Coverage() if anew else Coverage.load(kept)
        files = test_files(self.root)
        for gone in set(coverage.files) - set(files):
            coverage.forget(gone)
        traced = self.scratch / "traced.sql"
        traced.write_text(tracing_sql(functions))
        changed = [file for file, sha in files.items() if coverage.files.get(file) != sha]
        waiting = [file for file in changed if races or not file.startswith(RACES)]
        for file in waiting:
            told = self.scratch / f"{Path(file).stem}.json"
            print(f"recording {file}", flush=True)
            trial = begin(
                [file, "--maxfail=1000"],
                self._environment(traced),
                self.scratch / f"{Path(file).stem}.log",
                RECORDING_SECONDS,
                partial(_saving, self.server, told),
            )
            while trial.ended() is None:
                time.sleep(POLL_SECONDS)
            coverage.forget(file)
            if told.exists():
                new = Coverage.load(told)
                coverage.blocks |= new.blocks
                coverage.seconds |= new.seconds
                coverage.failed += new.failed
                coverage.files[file] = files[file]
            coverage.save(kept)
        for test in coverage.failed:
            print(f"left out, it fails without any mutant: {test}", flush=True)
        return coverage

    def must_apply(self, mutants: Iterable[Mutant]) -> None:
        """PostgreSQL takes every mutant, in a transaction that is rolled back; Refused."""
        asyncio.run(self._apply_all(mutants))

    async def _apply_all(self, mutants: Iterable[Mutant]) -> None:
        name = "mutate_syntax"
        server = await connect(self.server, application_name="mutate")
        await server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await server.execute(f"CREATE DATABASE {name}")
        await migrate(with_database(self.server, name), secret_key=Secret("k" * 40))
        connection = await connect(with_database(self.server, name), application_name="mutate")
        for mutant in mutants:
            transaction = connection.transaction()
            await transaction.start()
            try:
                await connection.execute(mutant.sql)
            except Exception as error:
                raise Refused(f"{mutant.id}: {error}\n{mutant.diff}") from error
            finally:
                await transaction.rollback()
        await connection.close()
        await server.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await server.close()

    def run(
        self,
        jobs: Sequence[tuple[Mutant, list[str]]],
        coverage: Coverage,
        results: Results,
        tell: Callable[[Result], None],
    ) -> None:
        """Every mutant against its tests; each result is kept at once. One that no test meets survives."""
        waiting = list(reversed(jobs))
        running: list[_Job] = []
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    mutant, tests = waiting.pop()
                    if tests:
                        running.append(self._start(mutant, tests, coverage))
                        continue
                    unmet = _Job(mutant, tests, [], self.scratch).result("survived", coverage.files)
                    results.add(unmet)
                    tell(unmet)
                time.sleep(POLL_SECONDS)
                for job in list(running):
                    outcome = self._look(job, coverage)
                    if outcome is not None:
                        running.remove(job)
                        result = job.result(outcome, coverage.files)
                        self._remember(job.mutant.function, result.killer)
                        results.add(result)
                        tell(result)
        finally:
            for job in running:
                job.trial.kill()

    def _look(self, job: _Job, coverage: Coverage) -> Outcome | None:
        """How a job ended, or None while it goes on, be it with its next stage."""
        code = job.trial.ended()
        if code is None:
            return None
        outcome = outcome_of(code)
        job.seconds += time.monotonic() - job.trial.began
        if outcome == "timeout":
            asyncio.run(self._sweep(job.trial.pid))
            if job.patience == PATIENCE:  # a busy machine must not kill a mutant
                job.patience *= MORE_PATIENCE
                job.stages.insert(0, job.stage)
                job.trial = self._begin(job, coverage)
                return None
        if outcome == "survived" and job.stages:
            job.trial = self._begin(job, coverage)
            return None
        return outcome

    def _remember(self, function: str, killer: str) -> None:
        """Who killed one mutant of a function is the first that the next one meets."""
        if killer:
            before = self._killers.get(function, [])
            self._killers[function] = [killer, *(test for test in before if test != killer)]

    def _start(self, mutant: Mutant, tests: list[str], coverage: Coverage) -> _Job:
        killed_before = self._killers.get(mutant.function, [])
        tests = [
            *(test for test in killed_before if test in tests),
            *(test for test in tests if test not in killed_before),
        ]
        quick = [test for test in tests if coverage.seconds.get(test, 0.0) < QUICK_TEST_SECONDS]
        slow = [test for test in tests if test not in set(quick)]
        file = self.scratch / f"{mutant.sha[:16]}.sql"
        file.write_text(mutant.sql)
        job = _Job(mutant, tests, [stage for stage in (quick, slow) if stage], file)
        job.trial = self._begin(job, coverage)
        return job

    def _begin(self, job: _Job, coverage: Coverage) -> Trial:
        stage = job.stage = job.stages.pop(0)
        alone = START_SECONDS + sum(coverage.seconds.get(test, 1.0) for test in stage)
        seconds = job.patience * alone
        return begin(
            stage,
            self._environment(job.file),
            job.file.with_suffix(".log"),
            seconds,
            partial(_killer, job.told),
        )

    def _environment(self, sql: Path) -> dict[str, str]:
        return {
            "BOARDREADYOPS_TEST_DATABASE_URL": self.server.reveal(),
            "BOARDREADYOPS_TEST_MUTANT": str(sql),
        }

    async def _sweep(self, pid: int) -> None:
        """Drop what a killed child left behind."""
        server = await connect(self.server, application_name="mutate")
        for row in await server.fetch(
            r"SELECT datname FROM pg_database WHERE datname LIKE '%\_' || $1 || '%'", str(pid)
        ):
            await server.execute(f'DROP DATABASE "{row["datname"]}" WITH (FORCE)')
        await server.close()


@dataclass(slots=True)
class _Job:
    mutant: Mutant
    tests: list[str]
    stages: list[list[str]]
    file: Path
    seconds: float = 0.0
    patience: float = PATIENCE
    stage: list[str] = field(default_factory=list)
    trial: Trial = field(init=False)

    @property
    def told(self) -> Path:
        return self.file.with_suffix(".killer")

    def result(self, outcome: Outcome, files: dict[str, str]) -> Result:
        killer = self.told.read_text() if outcome == "killed" and self.told.exists() else ""
        rests_on = [killer] if outcome == "killed" else self.tests
        return Result(
            self.mutant.id, self.mutant.sha, outcome, killer, proof(rests_on, files), round(self.seconds, 2)
        )


class _Saved(Recorder):
    """A recorder in a child: what it saw goes into a file."""

    def __init__(self, server: Secret, told: Path) -> None:
        super().__init__(server)
        self._told = told

    def pytest_sessionfinish(self) -> None:
        self.coverage.save(self._told)


def _saving(server: Secret, told: Path) -> list[object]:
    return [Unshrunk(), _Saved(server, told)]


def _killer(told: Path) -> list[object]:
    return [Unshrunk(), Killer(told)]
