"""Reads the migrations in order, in PostgreSQL's grammar, into a `Schema`; tells what no migration may do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from postgast import pg_query_pb2 as pg

from boardreadyops.db.gate import intent
from boardreadyops.db.gate.finding import Finding, Package
from boardreadyops.db.gate.grammar import (
    Node,
    SqlUnreadable,
    Statement,
    inner,
    kind,
    plain,
    statements,
    strings,
)
from boardreadyops.db.gate.query_files import judged
from boardreadyops.db.gate.replay_guards import policy, trigger
from boardreadyops.db.gate.replay_rights import grant
from boardreadyops.db.gate.schema import Definition, Schema
from boardreadyops.db.gate.shapes import shape
from boardreadyops.db.gate.touches import touched_by

FENCE = re.compile(r"^--! begin functions/([a-z0-9_]+)\.sql\n((?:(?!--! ).*\n)*?)--! end$", re.MULTILINE)
_FUNCTIONS = frozenset({pg.OBJECT_FUNCTION, pg.OBJECT_PROCEDURE, pg.OBJECT_ROUTINE})
_WEAKENS = frozenset(
    {
        *(pg.AT_DisableTrig, pg.AT_DisableTrigAll, pg.AT_DisableTrigUser, pg.AT_EnableReplicaTrig),
        *(pg.AT_DisableRowSecurity, pg.AT_ChangeOwner),
    }
)
# The migrator makes its own table, before the first migration.
_BY_THE_MIGRATOR = ("migration_table", "migration_table_grant")


@dataclass(slots=True)
class Replay:
    """The schema after the migrations, the text of each last fence, and what was found on the way."""

    schema: Schema = field(default_factory=Schema)
    fences: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: (migration's path, text)
    findings: list[Finding] = field(default_factory=list)


def replay(package: Package) -> Replay:
    """Read `sql/migrations`, oldest first."""
    done = Replay()
    queries = {path.stem: text for path, text in package.sql("queries")}
    for name in _BY_THE_MIGRATOR:
        for statement in statements(queries.get(name, "")):
            list(_taken(statement, done.schema))
    for path, text in package.sql("migrations"):
        named, version = package.named(path), int(path.name[:4])
        try:
            for statement in statements(text):
                found = [*_code(statement, done, named, version, text), *_taken(statement, done.schema)]
                found += _touched(statement, version)
                done.findings += [Finding(named, line, rule, says) for line, rule, says in found]
        except SqlUnreadable as error:
            done.findings.append(Finding(named, 1, "unreadable", f"PostgreSQL would refuse it ({error})"))
        done.fences |= {fence[1]: (named, fence[2]) for fence in FENCE.finditer(text)}
    return done


def _code(
    statement: Statement, done: Replay, named: str, version: int, text: str
) -> Iterator[tuple[int, str, str]]:
    """Definitions of functions, and statements that change one without defining it."""
    if statement.kind == "CreateFunctionStmt":
        begin = len(text.encode()[: statement.begins_at_byte].decode())
        fences = (fence[1] for fence in FENCE.finditer(text) if fence.start() <= begin < fence.end())
        made = Definition(shape(statement.node), version, named, statement.line, next(fences, None))
        done.schema.definitions.append(made)
        return
    node = statement.node
    objects = {"DropStmt": "remove_type", "RenameStmt": "rename_type", "AlterFunctionStmt": "objtype"}
    objects |= {"AlterOwnerStmt": "object_type", "AlterObjectSchemaStmt": "object_type"}
    if statement.kind in objects and getattr(node, objects[statement.kind]) in _FUNCTIONS:
        verb = statement.kind.removesuffix("Stmt")
        says = f"{verb} of a function; replace it by its file in a fence, retire it under the two-step rule"
        yield statement.line, "function_altered", says
    if statement.kind in {"RuleStmt", "CreateEventTrigStmt", "GrantRoleStmt"}:
        says = f"{statement.kind.removesuffix('Stmt')}; nothing here may rewrite statements or hand out roles"
        yield statement.line, "hidden_writer", says


def _touched(statement: Statement, version: int) -> Iterator[tuple[int, str, str]]:
    """Rows that a migration changes by itself, and dynamic SQL wherever it stands."""
    defines = statement.kind == "CreateFunctionStmt"
    for touch in touched_by(statement):
        for rule, says in judged(touch, query="role_database_rights"):  # format() makes text in a function
            if rule == "direct_writer" and (defines or not touch.changes_rows):
                continue
            if rule == "direct_writer" and touch.name in intent.BACKFILLS.get(version, frozenset()):
                continue
            if rule not in {"metadata_writer", "takes_power"} or (rule == "takes_power" and not defines):
                yield touch.line, rule, says
        if touch.verb == "others":
            yield touch.line, "when_others", "WHEN OTHERS; name the condition you expect"


def _taken(statement: Statement, schema: Schema) -> Iterator[tuple[int, str, str]]:
    """Take a statement into the schema."""
    node = statement.node
    match statement.kind:
        case "CreateStmt":
            schema.tables.add(node.relation.relname)
        case "ViewStmt":
            options = {option.defname: plain(option.arg) for option in map(inner, node.options)}
            schema.views[node.view.relname] = "true" in options.get("security_invoker", "")
        case "GrantStmt":
            yield from ((statement.line, rule, says) for rule, says in grant(node, schema))
        case "CreateTrigStmt":
            schema.triggers[node.relation.relname, node.trigname] = trigger(node)
        case "CreatePolicyStmt":
            schema.policies[node.table.relname, node.policy_name] = policy(node)
        case "AlterTableStmt":
            for command in map(inner, node.cmds):
                if command.subtype == pg.AT_EnableRowSecurity:
                    schema.row_security.add(node.relation.relname)
                elif command.subtype in _WEAKENS:
                    says = f"{pg.AlterTableType.Name(command.subtype)[3:]} on {node.relation.relname}; leave it on"
                    yield statement.line, "guard_disabled", says
        case "DropStmt":
            _dropped(node, schema)
        case _:
            pass


def _dropped(node: Node, schema: Schema) -> None:
    for found in map(inner, node.objects):
        names = strings(found.items) if kind(found) == "List" else []
        if node.remove_type == pg.OBJECT_TRIGGER:
            schema.triggers.pop((names[-2], names[-1]), None)
        elif node.remove_type == pg.OBJECT_POLICY:
            schema.policies.pop((names[-2], names[-1]), None)
        elif names:
            schema.tables.discard(names[-1])
            schema.views.pop(names[-1], None)
            schema.rights -= {right for right in schema.rights if right.on == names[-1]}
