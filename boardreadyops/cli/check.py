"""`boardreadyops check PATH`: the answer about a checkout, without server or GitHub."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from boardreadyops.checks.report import BoardReport
from boardreadyops.checks.run import check_repository
from boardreadyops.cli.exits import BAD_RESULT, GOOD, NOT_AVAILABLE, USAGE
from boardreadyops.config import executable_search_path
from boardreadyops.kicad.runner import installed_or_missing

DEFAULT_TIMEOUT_SECONDS = 900.0  # `check` without --timeout-seconds
EXIT_CODES = {"pass": GOOD, "fail": BAD_RESULT, "error": NOT_AVAILABLE}


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `check`."""
    parser = subparsers.add_parser(
        "check",
        help="check the KiCad projects in a folder",
        description="Exit code: 0 ready to fabricate, 1 not ready, 2 usage, 3 could not check.",
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a checkout of a hardware repository")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--kicad-cli", type=Path, metavar="FILE", help="the kicad-cli to use")
    parser.add_argument("--timeout-seconds", type=float, default=DEFAULT_TIMEOUT_SECONDS, metavar="N")
    handler: Callable[[argparse.Namespace], int] = run_check
    parser.set_defaults(handler=handler)


def run_check(arguments: argparse.Namespace) -> int:
    """Check the folder and print the verdict first, then the findings."""
    if not arguments.path.is_dir():
        print(f"boardreadyops check: {arguments.path} is not a folder", file=sys.stderr)
        return USAGE
    if not arguments.timeout_seconds > 0:
        print("boardreadyops check: --timeout-seconds must be more than 0", file=sys.stderr)
        return USAGE
    report = asyncio.run(_checked(arguments.path, arguments.kicad_cli, arguments.timeout_seconds))
    if arguments.json:
        print(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        print(as_text(report))
    return EXIT_CODES[report.decision]


async def _checked(path: Path, kicad_cli: Path | None, timeout_seconds: float) -> BoardReport:
    kicad = await installed_or_missing(kicad_cli, search_path=executable_search_path())
    with TemporaryDirectory(prefix="boardreadyops-check-", ignore_cleanup_errors=True) as workspace:
        return await check_repository(path, Path(workspace), kicad, timeout_seconds=timeout_seconds)


def as_text(report: BoardReport) -> str:
    """The summary, then every finding with its place."""
    lines = [report.summary]
    if report.findings:
        lines.append("")
    for finding in report.findings:
        place = finding.path
        if finding.position is not None:
            place += f" at {finding.position.x_mm:g}, {finding.position.y_mm:g} mm"
        lines.append(f"{finding.severity:7} {finding.rule}: {finding.message} [{place}]")
    if report.truncated:
        lines.append(f"Only the first {len(report.findings)} findings are shown.")
    return "\n".join(lines)
