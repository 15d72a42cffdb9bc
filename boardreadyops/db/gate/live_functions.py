"""Live functions against the migrations' text: both are read by the same grammar, so only what matters can differ."""

from __future__ import annotations

from collections.abc import Iterator

from boardreadyops.db.gate.finding import Finding
from boardreadyops.db.gate.grammar import statements
from boardreadyops.db.gate.schema import Schema
from boardreadyops.db.gate.shapes import shape
from boardreadyops.db.pool import Record
from boardreadyops.db.roles import OWNER


def functions(rows: list[Record], schema: Schema) -> Iterator[Finding]:
    """Changed, missing, additional and overloaded functions."""
    wanted = schema.functions
    names = [row["name"] for row in rows if row["schema"] == "public"]
    for row in rows:
        name = row["name"]
        if row["schema"] != "public" or name not in wanted:
            says = f"function {row['schema']}.{name} is in no migration; drop it"
            yield Finding("database", 1, "live_unexpected", says)
            continue
        definition = wanted[name]
        at = (definition.path, definition.line)
        if names.count(name) > 1:
            yield Finding(
                *at, "live_overload", f"{name} exists {names.count(name)} times; drop the overloads"
            )
        if row["owner"] != OWNER:
            yield Finding(*at, "live_owner", f"{name} belongs to {row['owner']}; ALTER it to {OWNER}")
        if row["definition"] is None:
            yield Finding(*at, "live_function", f"{name} is an aggregate; drop it and define it again")
            continue
        (read,) = statements(row["definition"])
        differs = shape(read.node).differs_from(definition.shape)
        if differs:
            says = f"{name} in the database has other {', '.join(differs)}; define it again as it stands here"
            yield Finding(*at, "live_function", says)
    for name in sorted(wanted.keys() - set(names)):
        definition = wanted[name]
        yield Finding(
            definition.path, definition.line, "live_missing", f"{name} is not in the database; define it"
        )
