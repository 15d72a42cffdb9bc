"""All rules that need no database: on this package's own files, installed or in a checkout."""

from __future__ import annotations

from boardreadyops.db.gate import function_files, history, python_files, query_files
from boardreadyops.db.gate.finding import Finding, Package
from boardreadyops.db.gate.replay import replay


def check(package: Package | None = None) -> list[Finding]:
    """Every finding, by file and line; about a second."""
    package = package or Package()
    done = replay(package)
    found = {
        *done.findings,
        *history.check(done),
        *function_files.check(package, done),
        *query_files.check(package),
        *query_files.check_others(package),
        *python_files.check(package),
    }
    return sorted(found)
