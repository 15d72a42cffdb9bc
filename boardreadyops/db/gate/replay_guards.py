"""Triggers and policies, spelled one way: the same value from our migration and from the catalogs."""

from __future__ import annotations

from boardreadyops.db.gate.grammar import Node, inner, plain, strings
from boardreadyops.db.gate.schema import Trigger


def trigger(node: Node) -> Trigger:
    """A trigger from its CREATE TRIGGER node, spelled one way."""
    function = strings(node.funcname)[-1]
    rest = (
        node.timing,
        node.events,
        node.row,
        [*strings(node.columns)],
        [*strings(node.args)],
        plain(node.when_clause),
    )
    return Trigger(node.relation.relname, node.trigname, function, f"{function} {rest}")


def policy(node: Node) -> str:
    """A policy from its CREATE POLICY node, spelled one way."""
    roles = sorted(inner(role).rolename for role in node.roles)
    kind_of = "permissive" if node.permissive else "restrictive"
    return f"{kind_of} {node.cmd_name} {roles} {plain(node.qual)} {plain(node.with_check)}"
