"""The rules on `sql/functions/*.sql`: one function each, safe with its owner's rights, equal to its last fence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from boardreadyops.db.gate import intent
from boardreadyops.db.gate.finding import Finding, Package
from boardreadyops.db.gate.grammar import SqlUnreadable, statements
from boardreadyops.db.gate.query_files import judged
from boardreadyops.db.gate.replay import Replay
from boardreadyops.db.gate.shapes import Shape, shape
from boardreadyops.db.gate.touches import Touch, touched_by

PREFIX = "boardreadyops_"
_MAY = frozenset(
    {"INSERT", "UPDATE", "DELETE", "MERGE", "LOCK", "call", "power", "dynamic", "others", "language"}
)
_HEADER = re.compile(r"\A(?:--[^\n]*\n)+")


def check(package: Package, done: Replay) -> Iterator[Finding]:
    """Find function files that are not what their name says, that open a door, or that are not frozen."""
    for path, text in package.sql("functions"):
        named = package.named(path)
        found = [*_frozen(path, text, done), *_file(path, text)]
        yield from (Finding(named, line, rule, says) for line, rule, says in found)
    files = {path.stem for path, _ in package.sql("functions")}
    for name, (migration, _) in done.fences.items():
        if name not in files:
            says = (
                f"a fence for functions/{name}.sql, which is missing; put the file back or take the fence out"
            )
            yield Finding(migration, 1, "not_frozen", says)


def _frozen(path: Path, text: str, done: Replay) -> Iterator[tuple[int, str, str]]:
    if path.stem not in done.fences:
        yield 1, "not_frozen", "in no migration's fence; add an empty one and run `make freeze`"
    elif done.fences[path.stem][1] != text:
        yield (
            1,
            "not_frozen",
            f"differs from its last fence, in {done.fences[path.stem][0]}; run `make freeze`",
        )


def _file(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    try:
        found = statements(text)
        touched = [touch for statement in found for touch in touched_by(statement)]
    except SqlUnreadable as error:
        yield 1, "unreadable", f"PostgreSQL would refuse it ({error}); mend it"
        return
    shapes = [shape(statement.node) for statement in found if statement.kind == "CreateFunctionStmt"]
    if [shaped.name for shaped in shapes] != [PREFIX + path.stem] or len(found) != 1:
        holds = [shaped.name for shaped in shapes] or "no function"
        yield (
            1,
            "one_function",
            f"holds {holds} in {len(found)} statements; exactly {PREFIX}{path.stem} belongs here",
        )
    header = _HEADER.match(text)
    for statement, shaped in zip(found, shapes, strict=False):
        yield from ((statement.line, *broken) for broken in _rights(shaped, header[0] if header else ""))
        if not statement.node.replace:
            yield (
                statement.line,
                "one_function",
                "no OR REPLACE; its next migration could not define it again",
            )
    for touch in touched:
        yield from ((touch.line, *broken) for broken in _does(touch))


def _does(touch: Touch) -> Iterator[tuple[str, str]]:
    """What a body may not do, though it may write."""
    if touch.verb == "others":
        yield "when_others", "WHEN OTHERS; name the condition you expect"
    elif touch.verb not in _MAY:
        yield (
            "ddl_in_function",
            f"{touch.verb} on {touch.name}; definitions and rights change in migrations only",
        )
    elif touch.name == intent.EVENT_TABLE and touch.verb in {"UPDATE", "DELETE", "MERGE"}:
        yield "append_only", f"{touch.verb} on {touch.name}; append a new event"
    for rule, says in judged(touch, query="role_database_rights"):
        if rule in {"dynamic_sql", "takes_power", "catalog_writer"}:
            yield rule, says


def _rights(shaped: Shape, header: str) -> Iterator[tuple[str, str]]:
    internal = re.search(r"\bInternal:", header) is not None
    granted = any(shaped.name in names for names in intent.CALLS.values())
    if granted and internal:
        yield "internal_granted", "says `Internal:` and is granted to a login; decide which"
    if not granted and not internal:
        yield "internal_granted", "granted to nobody and no `Internal:` in the header; say who may call it"
    as_caller = shaped.name in intent.RUNS_AS_CALLER
    if granted and not as_caller and shaped.rights != "definer":
        yield "security_invoker", "granted, but not SECURITY DEFINER: it could do nothing; add it"
    if as_caller and shaped.rights == "definer":
        yield "security_definer", "asks about its caller, so it must run with its caller's rights"
    if internal and shaped.rights == "definer":
        yield (
            "security_definer",
            "internal functions run with the rights they are called with; take DEFINER out",
        )
    if shaped.rights == "definer" and shaped.search_path != intent.SEARCH_PATH:
        wanted = ", ".join(intent.SEARCH_PATH)
        yield "search_path", f"not SET search_path = {wanted}: a caller could lend it tables; set it"
    if any(not setting.startswith("search_path=") for setting in shaped.settings):
        yield "search_path", "sets more than search_path; leave the session's settings alone"
    if shaped.language not in {"plpgsql", "sql"}:
        yield (
            "dynamic_sql",
            f"LANGUAGE {shaped.language}; write it in plpgsql or sql, which the gate can read",
        )
