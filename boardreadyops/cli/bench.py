"""`boardreadyops bench sql`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import TYPE_CHECKING

from boardreadyops.cli.exits import BAD_RESULT, GOOD, NOT_AVAILABLE

if TYPE_CHECKING:
    from boardreadyops.bench.results import Result

LETTERS = "abcdefg"
MAX_SEED = 2**31 - 1
DEFAULT_SEED = 1


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `bench` to the program's commands."""
    parser = subparsers.add_parser("bench", help="measure this program on this machine")
    subjects = parser.add_subparsers(required=True, metavar="SUBJECT")
    sql = subjects.add_parser(
        "sql",
        help="the guarded functions",
        description="Measure the guarded functions on a PostgreSQL of the bench's own, in a temporary folder, with the"
        " product's settings and fsync on. Parts: a transition through the pool, b enqueue, c claim, d heartbeat,"
        " e sweeps, f supersede storm, g claim beside an old transaction. Takes about ten minutes and 10 GB of disk."
        " Exit code 0, with --check 1 when a target is missed, 3 when it cannot run.",
    )
    sql.add_argument("--only", type=_letters, default=frozenset(), metavar="a,b,…", help="these parts alone")
    sql.add_argument(
        "--quick", action="store_true", help="small tables, three short rounds: a smoke test, no figures"
    )
    sql.add_argument("--check", action="store_true", help="exit code 1 when a target is missed")
    sql.add_argument("--json", action="store_true", help="print {schema, seed, machine, results} as JSON")
    sql.add_argument("--seed", type=_seed, default=DEFAULT_SEED, help="of everything random in the load")
    sql.set_defaults(handler=bench_sql_command)


def bench_sql_command(arguments: argparse.Namespace) -> int:
    """Measure, tell, judge; the exit code."""
    import uvloop

    from boardreadyops.bench.pgbench import BenchFailed
    from boardreadyops.bench.results import heading, row
    from boardreadyops.bench.suite import run_suite

    as_json: bool = arguments.json

    def tell(result: Result) -> None:
        _wipe()
        if not as_json:
            print(row(result), flush=True)

    if not as_json:
        print(heading(), flush=True)
    try:
        document, failed = uvloop.run(
            run_suite(arguments.only, quick=arguments.quick, seed=arguments.seed, say=_progress, tell=tell)
        )
    except BenchFailed as failure:
        _wipe()
        print(f"boardreadyops: the bench could not run: {failure}", file=sys.stderr)
        return NOT_AVAILABLE
    _wipe()
    missed = [result["id"] for result in document["results"] if result["passed"] is False]
    if as_json:
        print(json.dumps(document, indent=2))
    elif missed:
        print(f"missed: {', '.join(missed)}")
    if failed:
        print(f"boardreadyops: could not measure {'; '.join(failed)}", file=sys.stderr)
        return NOT_AVAILABLE
    return BAD_RESULT if missed and arguments.check else GOOD


def _progress(sentence: str) -> None:
    """One line that is written over on a terminal; a line each elsewhere."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{sentence[:width]}", end="", file=sys.stderr, flush=True)
    else:
        print(sentence, file=sys.stderr, flush=True)


def _wipe() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def _letters(text: str) -> frozenset[str]:
    letters = frozenset(text.replace(",", ""))
    if not letters or not letters <= frozenset(LETTERS):
        raise argparse.ArgumentTypeError(
            f"name parts by their letters, such as a,c; there are {', '.join(LETTERS)}"
        )
    return letters


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MAX_SEED:
        raise argparse.ArgumentTypeError(f"give a number from 0 to {MAX_SEED}")
    return int(text)
