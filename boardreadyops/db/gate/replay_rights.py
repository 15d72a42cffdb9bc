"""GRANT and REVOKE in migrations: what they leave behind, and what they may not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postgast import pg_query_pb2 as pg

from boardreadyops.db.gate.grammar import Node, inner, kind, strings
from boardreadyops.db.gate.schema import Right, Schema

PUBLIC = "PUBLIC"


def grant(node: Node, schema: Schema) -> Iterator[tuple[str, str]]:
    """Take one GRANT or REVOKE into the schema; yields (rule, what to do) for what it may not say."""
    grantees = [_role(inner(grantee)) for grantee in node.grantees]
    if node.is_grant and PUBLIC in grantees:
        yield "public_grant", "a grant to PUBLIC; name the login that needs it"
    if node.is_grant and node.grant_option:
        yield "extra_grant", "WITH GRANT OPTION; nobody hands rights on"
    privileges = [inner(privilege) for privilege in node.privileges]
    everything = not privileges
    if node.is_grant and everything:
        yield "extra_grant", "GRANT ALL means other things in other versions; name the privileges"
    for on in _objects(node, schema):
        for grantee in grantees:
            if everything and not node.is_grant:
                schema.rights -= {
                    right for right in schema.rights if (right.on, right.grantee) == (on, grantee)
                }
            for privilege in privileges:
                named = privilege.priv_name.upper()
                rights = {Right(on, grantee, named, column) for column in strings(privilege.cols) or [""]}
                schema.rights = schema.rights | rights if node.is_grant else schema.rights - rights


def _objects(node: Node, schema: Schema) -> Iterator[str]:
    """Names of tables and functions; a schema or database is looked at in the live database only."""
    if node.targtype == pg.ACL_TARGET_ALL_IN_SCHEMA:
        yield from sorted(schema.relations if node.objtype == pg.OBJECT_TABLE else schema.functions)
        return
    for found in map(inner, node.objects):
        if kind(found) == "RangeVar":
            yield found.relname
        elif kind(found) == "ObjectWithArgs":
            yield strings(found.objname)[-1]


def _role(spec: Any) -> str:
    return PUBLIC if spec.roletype == pg.ROLESPEC_PUBLIC else str(spec.rolename)
