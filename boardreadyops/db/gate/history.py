"""The rules on migrations as a whole: each function last defined where it is meant to be, and granted as declared."""

from __future__ import annotations

from collections.abc import Iterator

from boardreadyops.db.gate import intent
from boardreadyops.db.gate.finding import Finding
from boardreadyops.db.gate.owning_migration import OWNING_MIGRATION
from boardreadyops.db.gate.replay import Replay
from boardreadyops.db.gate.schema import Right, Schema
from boardreadyops.db.gate.shapes import argument_types
from boardreadyops.db.roles import APP, GUARDED_TABLES, READER

OWNING_TABLE = "boardreadyops/db/gate/owning_migration.py"
INTENT = "boardreadyops/db/gate/intent.py"


def check(done: Replay) -> Iterator[Finding]:
    """Compare what the migrations leave behind with the tables of intent."""
    yield from _owners(done.schema)
    yield from _overloads(done.schema)
    yield from _calls(done.schema)
    yield from _tables(done.schema)


def _owners(schema: Schema) -> Iterator[Finding]:
    for name, definition in schema.functions.items():
        at = (definition.path, definition.line)
        meant = OWNING_MIGRATION.get(name)
        if meant is None:
            says = f"{name} is in no table; add `{name}: {definition.version}` to owning_migration.py"
            yield Finding(*at, "unknown_function", says)
        elif meant != definition.version:
            says = f"{name} is last defined here, meant to be by {meant:04d}; change its line in owning_migration.py"
            yield Finding(*at, "redefined", says)
        fence_of = f"boardreadyops_{definition.fence}" if definition.fence else None
        if fence_of != name:
            says = f"{name} is defined outside its fence; put it into functions/ and let `make freeze` fill the fence"
            yield Finding(*at, "outside_fence", says)
    for name in sorted(OWNING_MIGRATION.keys() - schema.functions.keys()):
        yield Finding(OWNING_TABLE, 1, "missing_function", f"no migration defines {name}; take its line out")


def _overloads(schema: Schema) -> Iterator[Finding]:
    first: dict[str, tuple[str, ...]] = {}
    for definition in schema.definitions:
        name, types = definition.shape.name, argument_types(definition.shape)
        if first.setdefault(name, types) != types:
            says = f"{name} with other arguments makes an overload; take a new name and retire the old in two steps"
            yield Finding(definition.path, definition.line, "overload", says)


def _calls(schema: Schema) -> Iterator[Finding]:
    functions = schema.functions
    declared = {Right(name, role, "EXECUTE") for role, names in intent.CALLS.items() for name in names}
    granted = {right for right in schema.rights if right.on in functions}
    for right in sorted(granted - declared):
        at = functions[right.on]
        says = f"{right}, which {INTENT} does not declare; revoke it, or declare it"
        yield Finding(at.path, at.line, "extra_grant", says)
    for right in sorted(declared - granted):
        yield Finding(
            INTENT, 1, "missing_grant", f"{right} is declared and not granted; grant it in a migration"
        )


def _tables(schema: Schema) -> Iterator[Finding]:
    for right in sorted(schema.rights):
        if right.on not in schema.relations:
            continue
        writes = intent.APP_WRITES.get(right.on, frozenset()) if right.grantee == APP else frozenset()
        reads = right.privilege == "SELECT" and right.grantee in {APP, READER}
        if not reads and right.privilege not in writes:
            yield Finding(
                INTENT, 1, "extra_grant", f"{right}; revoke it: the guarded functions write for everyone"
            )
    for table in sorted(GUARDED_TABLES & schema.tables):
        has_policy = any(of == table for of, _ in schema.policies)
        guarded = table in schema.row_security and has_policy
        if not guarded and table not in intent.WITHOUT_ROW_SECURITY:
            yield Finding(
                INTENT, 1, "row_security", f"{table} has no row-level security; enable it with a policy"
            )
    missing = GUARDED_TABLES - schema.tables
    for table in sorted(missing):
        yield Finding(INTENT, 1, "missing_table", f"no migration creates {table}; take it out")
    for view in sorted(name for name, as_caller in schema.views.items() if not as_caller):
        yield Finding(INTENT, 1, "view_rights", f"{view} runs with its owner's rights; add security_invoker")
    triggers = {name for table, name in schema.triggers if table == intent.EVENT_TABLE}
    for name in sorted(intent.EVENT_TRIGGERS - triggers):
        yield Finding(INTENT, 1, "event_trigger", f"{intent.EVENT_TABLE} lost {name}; create it again")
