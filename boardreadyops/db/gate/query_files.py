"""The rules on `sql/queries/*.sql`: one readable statement each, and no way around the functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from boardreadyops.db.gate import intent
from boardreadyops.db.gate.finding import Finding, Package
from boardreadyops.db.gate.grammar import SqlUnreadable, statements
from boardreadyops.db.gate.touches import Touch, touched_by, touches

_COMMAND = re.compile(r"^\\.*$", re.MULTILINE)
_VARIABLE = re.compile(r"(?<!:):[A-Za-z_]\w*")
_DEFINES = frozenset({"CreateFunctionStmt", "DoStmt", "RuleStmt", "CreateTrigStmt", "CreateEventTrigStmt"})


def check(package: Package) -> Iterator[Finding]:
    """Find query files that write guarded tables, hide statements in texts, or take power."""
    for path, text in package.sql("queries"):
        named = package.named(path)
        try:
            found = statements(text)
            touched = [touch for statement in found for touch in touched_by(statement)]
        except SqlUnreadable as error:
            yield Finding(named, 1, "unreadable", f"PostgreSQL would refuse it ({error}); mend it")
            continue
        if len(found) != 1:
            says = f"holds {len(found)} statements; give each a file and a name of its own"
            yield Finding(named, 1, "one_statement", says)
        for statement in found:
            if statement.kind in _DEFINES:
                says = (
                    f"{statement.kind.removesuffix('Stmt')}; code belongs into sql/functions and a migration"
                )
                yield Finding(named, statement.line, "defines_code", says)
        for touch in touched:
            for rule, says in judged(touch, path.stem):
                yield Finding(named, touch.line, rule, says)


def check_others(package: Package) -> Iterator[Finding]:
    """Find the same in SQL that lies elsewhere; a pgbench script is read without its own commands and variables."""
    for path, text in package.other_sql():
        if path.relative_to(package.root).as_posix() in intent.SEEDING:
            continue
        named, plain = package.named(path), _VARIABLE.sub("NULL", _COMMAND.sub("", text))
        try:
            for touch in touches(plain):
                yield from (Finding(named, touch.line, rule, says) for rule, says in judged(touch))
        except SqlUnreadable as error:
            yield Finding(named, 1, "unreadable", f"PostgreSQL would refuse it ({error}); mend it")


def judged(touch: Touch, query: str = "") -> Iterator[tuple[str, str]]:
    """The rules that one touch breaks, with what to do; `query` is the name of the file that does it."""
    if touch.name in intent.GUARDED and touch.verb not in {"call", "power"}:
        yield "direct_writer", f"{touch.verb} on {touch.name}; call the guarded function that does this"
    elif touch.name in intent.WRITERS and touch.verb != "call" and query not in intent.WRITERS[touch.name]:
        yield (
            "metadata_writer",
            f"{touch.verb} on {touch.name}; its writers are {_list(intent.WRITERS[touch.name])}",
        )
    elif touch.changes_rows and touch.name.startswith("pg_"):
        yield "catalog_writer", f"{touch.verb} on {touch.name}; change the catalog by DDL in a migration"
    runs_text = touch.verb == "call" and touch.name in intent.RUNS_TEXT
    makes_text = touch.verb == "call" and touch.name in intent.MAKES_TEXT
    if touch.verb == "dynamic" or runs_text or (makes_text and query not in intent.MAKES_STATEMENTS):
        yield "dynamic_sql", f"{touch.name or 'EXECUTE'} makes or runs a text; write the statement out"
    if touch.verb == "language":
        yield "dynamic_sql", "a language that the gate cannot read; write it in plpgsql or sql"
    if touch.verb == "power" and query not in intent.TAKES_POWER:
        yield "takes_power", f"sets {touch.name}; only {_list(intent.TAKES_POWER)} may"


def _list(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
