"""`boardreadyops serve`."""

from __future__ import annotations

import argparse

from boardreadyops.cli.exits import GOOD
from boardreadyops.config import Settings


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `serve` to the program's commands."""
    parser = subparsers.add_parser(
        "serve",
        help="webhooks, runner API, pages and GitHub updates",
        description="Serve web and worker in one process until SIGTERM or Ctrl-C. Without"
        " BOARDREADYOPS_DATABASE_URL it starts its own PostgreSQL under BOARDREADYOPS_DATA_DIR."
        " Exit code 0 stopped, 2 settings, 3 not available (port, folder or database).",
    )
    parser.add_argument("--no-worker", action="store_true", help="web only; another process tells GitHub")
    parser.set_defaults(handler=serve_command)


def serve_command(arguments: argparse.Namespace) -> int:
    """Serve until told to stop; the exit code."""
    settings = Settings.from_environment()  # a wrong setting is told before anything slow is imported
    from boardreadyops.serve import run

    run(settings, with_worker=not arguments.no_worker)
    return GOOD
