"""The rules on a database: what it holds is what the migrations' text says, and nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from boardreadyops.db.gate.finding import Finding, Package
from boardreadyops.db.gate.grammar import statements
from boardreadyops.db.gate.live_functions import functions
from boardreadyops.db.gate.replay import replay
from boardreadyops.db.gate.replay_guards import policy, trigger
from boardreadyops.db.gate.schema import Right, Schema
from boardreadyops.db.migrate import Fit, schema_fits
from boardreadyops.db.pool import Connection, Record
from boardreadyops.db.roles import OWNER
from boardreadyops.db.statements import statement

DATABASE = "database"


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the catalogs say, read at one moment."""

    functions: list[Record]
    relations: list[Record]
    rights: list[Record]
    triggers: list[Record]
    policies: list[Record]
    strays: list[Record]


async def check(connection: Connection, package: Package | None = None) -> list[Finding]:
    """Every difference between this database and the package's migrations; reads catalogs only, as any login."""
    package = package or Package()
    fit = await schema_fits(connection, package.root / "sql" / "migrations")
    if fit is not Fit.FITS:
        return [_finding("live_schema", fit.advice)]
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        await connection.execute(statement("gate_search_path"))
        rows = _Rows(
            functions=await connection.fetch(statement("gate_functions")),
            relations=await connection.fetch(statement("gate_relations")),
            rights=await connection.fetch(statement("gate_rights")),
            triggers=await connection.fetch(statement("gate_triggers")),
            policies=await connection.fetch(statement("gate_policies")),
            strays=await connection.fetch(statement("gate_strays")),
        )
    schema = replay(package).schema
    found = {
        *functions(rows.functions, schema),
        *_relations(rows.relations, schema),
        *_rights(rows.rights, schema),
        *_triggers(rows.triggers, schema),
        *_policies(rows.policies, schema),
        *(_finding("live_stray", row["says"]) for row in rows.strays),
    }
    return sorted(found)


def _relations(rows: list[Record], schema: Schema) -> Iterator[Finding]:
    for row in rows:
        name = row["name"]
        if name not in schema.relations:
            yield _finding(
                "live_unexpected", f"{name} is in no migration; drop it, or move it to a schema of its own"
            )
            continue
        if row["owner"] != OWNER:
            yield _finding("live_owner", f"{name} belongs to {row['owner']}; ALTER it to {OWNER}")
        if row["is_view"] and not row["security_invoker"]:
            yield _finding("live_view_rights", f"{name} runs with its owner's rights; set security_invoker")
        if name in schema.row_security and not row["row_security"]:
            yield _finding("live_row_security", f"row-level security of {name} is off; enable it")
    for name in sorted(schema.relations - {row["name"] for row in rows}):
        yield _finding("live_missing", f"{name} is missing; restore the database from a backup")


def _rights(rows: list[Record], schema: Schema) -> Iterator[Finding]:
    live = {Right(row["object"], row["grantee"], row["privilege"], row["of_column"]) for row in rows}
    for right in sorted(live - schema.rights):
        rule = "live_public_grant" if right.grantee == "PUBLIC" else "live_extra_grant"
        yield _finding(rule, f"{right}; revoke it")
    for right in sorted(schema.rights - live):
        yield _finding("live_missing_grant", f"{right} is gone; grant it again")
    for row in rows:
        if row["is_grantable"]:
            yield _finding(
                "live_extra_grant", f"{row['grantee']} may hand on {row['privilege']} on {row['object']}"
            )


def _triggers(rows: list[Record], schema: Schema) -> Iterator[Finding]:
    for row in rows:
        key = (row["table_name"], row["name"])
        if not row["enabled"]:
            yield _finding("live_trigger", f"trigger {key[1]} on {key[0]} does not fire; enable it")
        if row["internal"]:
            continue
        (read,) = statements(row["definition"])
        if key not in schema.triggers:
            yield _finding("live_unexpected", f"trigger {key[1]} on {key[0]} is in no migration; drop it")
        elif trigger(read.node) != schema.triggers[key]:
            yield _finding(
                "live_trigger", f"trigger {key[1]} on {key[0]} was changed; create it as in its migration"
            )
    for table, name in sorted(schema.triggers.keys() - {(row["table_name"], row["name"]) for row in rows}):
        yield _finding("live_trigger", f"trigger {name} on {table} is gone; create it as in its migration")


def _policies(rows: list[Record], schema: Schema) -> Iterator[Finding]:
    live = {}
    for row in rows:
        (read,) = statements(row["definition"])
        live[row["table_name"], row["name"]] = policy(read.node)
    for table, name in sorted(live.keys() | schema.policies.keys()):
        meant, held = schema.policies.get((table, name)), live.get((table, name))
        if meant != held:
            what = "is gone" if held is None else "is in no migration" if meant is None else "was changed"
            yield _finding("live_policy", f"policy {name} on {table} {what}; make it as its migration says")


def _finding(rule: str, says: str) -> Finding:
    return Finding(DATABASE, 1, rule, says)
