"""Take one guard at a time out of the SQL functions; the tests must notice each time. See docs/mutation.md."""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from boardreadyops.db.embedded import EmbeddedPostgres
from tools.mutate.course import RACES, Course
from tools.mutate.covering import Coverage
from tools.mutate.mutants import Mutant, mutants_of
from tools.mutate.results import Result, Results, report, table
from tools.mutate.tokens import read_function

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = ROOT / "boardreadyops" / "sql" / "functions"
KEPT = ROOT / ".mutation"
EXPLAINED = ROOT / "docs" / "mutation.md"
MEMORY = Path("/dev/shm")  # noqa: S108
MEMORY_NEEDED_BYTES = 2 << 30
FAST_BUT_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# What only two sessions at once can show. Of the other kinds the races would find what the quick tests find.
RACED = frozenset({"lock", "of", "skip", "conflict", "when"})


def main() -> int:
    """0 when every mutant is killed or explained."""
    wanted = _arguments()
    explained = _explained()
    mutants = [mutant for mutant in _chosen(wanted) if wanted.explained or mutant.id not in explained]
    if wanted.list:
        print("\n\n".join(f"{mutant.id}\n{mutant.diff}" for mutant in mutants))
        print(f"\n{len(mutants)} mutants")
        return 0
    KEPT.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server and its folder go, too
    with _scratch() as scratch:
        server = EmbeddedPostgres.attach_or_start(scratch, FAST_BUT_UNSAFE)
        try:
            course = Course(ROOT, KEPT, scratch, server.owner_dsn, wanted.workers)
            functions = [read_function(path) for path in sorted(FUNCTIONS.glob("*.sql"))]
            coverage = course.record(functions, anew=wanted.record, races=wanted.races != "none")
            course.must_apply(mutants)
            every = _run(course, mutants, coverage, races=wanted.races, most=wanted.most)
        finally:
            server.release()
    return _tell(every, explained, wanted.json)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for the server: in memory where there is enough, since every test copies a database."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_NEEDED_BYTES
    folder = Path(tempfile.mkdtemp(prefix="mutate-", dir=MEMORY if roomy else "/tmp"))  # noqa: S108
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _run(
    course: Course, mutants: Sequence[Mutant], coverage: Coverage, *, races: str, most: int | None
) -> list[tuple[Mutant, Result]]:
    results = Results(KEPT / "results.jsonl")
    tests = {mutant.id: _tests(mutant, coverage, races)[:most] for mutant in mutants}
    jobs = [
        (mutant, tests[mutant.id])
        for mutant in mutants
        if results.known(mutant, tests[mutant.id], coverage.files) is None
    ]
    print(f"{len(mutants)} mutants, {len(mutants) - len(jobs)} known already", flush=True)

    def tell(result: Result) -> None:
        print(f"{result.outcome:<9} {result.seconds:6.1f} s  {result.id}  {result.killer}", flush=True)

    course.run(jobs, coverage, results, tell)
    found = [(mutant, results.known(mutant, tests[mutant.id], coverage.files)) for mutant in mutants]
    return [(mutant, result) for mutant, result in found if result is not None]


def _tests(mutant: Mutant, coverage: Coverage, races: str) -> list[str]:
    failed = set(coverage.failed)
    call = f"boardreadyops_{mutant.function}("
    callers = [path.stem for path in FUNCTIONS.glob("*.sql") if call in path.read_text(encoding="utf-8")]
    tests = [test for test in coverage.of(mutant.block, callers) if test not in failed]
    if races == "all" or (races == "locks" and mutant.kind in RACED | {"perform"}):
        return sorted(tests, key=lambda test: test.startswith(RACES) is not (mutant.kind in RACED))
    return [test for test in tests if not test.startswith(RACES)]


def _explained() -> frozenset[str]:
    return frozenset(re.findall(r"`(\w+:\w+:\d+:\d+)`", EXPLAINED.read_text(encoding="utf-8")))


def _tell(every: list[tuple[Mutant, Result]], explained: frozenset[str], target: Path) -> int:
    told = report(every, explained)
    target.write_text(json.dumps(told, indent=1))
    print(table(every))
    open_ends = 0
    for mutant, result in every:
        if result.outcome in {"survived", "broken"} and mutant.id not in explained:
            open_ends += 1
            print(f"\n{result.outcome}: {mutant.id}\n{mutant.diff}")
    print(
        f"\n{told['outcomes']}, kill rate {told['kill_rate']}, {open_ends} neither killed nor explained; {target}"
    )
    return 1 if open_ends else 0


def _chosen(wanted: argparse.Namespace) -> list[Mutant]:
    mutants = [mutant for path in sorted(FUNCTIONS.glob("*.sql")) for mutant in mutants_of(path)]
    if wanted.only:
        mutants = [mutant for mutant in mutants if mutant.function in wanted.only or mutant.id in wanted.only]
    if wanted.kind:
        mutants = [mutant for mutant in mutants if mutant.kind in wanted.kind]
    if wanted.sample is not None and wanted.sample < len(mutants):
        chosen = set(random.Random(wanted.seed).sample([mutant.id for mutant in mutants], wanted.sample))
        mutants = [mutant for mutant in mutants if mutant.id in chosen]
    return mutants


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__)
    parser.add_argument(
        "--only", action="append", metavar="FUNCTION", help="or a mutant's id; may be repeated"
    )
    parser.add_argument("--kind", action="append", help="lock, term, …; may be repeated")
    parser.add_argument(
        "--explained", action="store_true", help="run those, too, that docs/mutation.md explains"
    )
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    parser.add_argument("--sample", type=int, metavar="N", help="that many, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--races", choices=("none", "locks", "all"), default="locks", help="who meets tests/races"
    )
    parser.add_argument(
        "--most", type=int, metavar="N", help="tests per mutant, the nearest: a quick first look"
    )
    parser.add_argument("--record", action="store_true", help="find out anew which test comes where")
    parser.add_argument("--json", type=Path, default=KEPT / "report.json", metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
