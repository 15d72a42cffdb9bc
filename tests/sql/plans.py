"""Plans of everything a call runs, the statements inside the guarded functions included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import asyncpg

from boardreadyops.db.pool import Connection

_SETTINGS = {
    "log_min_duration": "0",
    "log_analyze": "on",
    "log_buffers": "on",
    "log_timing": "off",
    "log_nested_statements": "on",
    "log_format": "json",
    "log_level": "notice",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One executed statement: its text, the indexes and sequentially read tables of its plan, the pages it touched."""

    text: str
    indexes: frozenset[str]
    read_whole: frozenset[str]
    buffers: int


async def plans_of(connection: Connection, query: str, *arguments: object) -> list[Plan]:
    """Run a statement six times, so that the functions' generic plans are in use, and answer the last run's plans.

    Everything is undone. Needs a superuser, for auto_explain.
    """
    await connection.execute("LOAD 'auto_explain'")
    heard: list[str] = []

    def listen(_connection: object, message: asyncpg.PostgresLogMessage) -> None:
        heard.append(str(message.message))

    for _ in range(6):
        heard.clear()
        transaction = connection.transaction()
        await transaction.start()
        for name, value in _SETTINGS.items():
            await connection.execute("SELECT set_config('auto_explain.' || $1, $2, true)", name, value)
        heard.clear()
        connection.add_log_listener(listen)
        try:
            await connection.fetch(query, *arguments)
        finally:
            await transaction.rollback()  # ends the portal of the statement, which tells its plan only now
            connection.remove_log_listener(listen)
    plans = [_plan(json.loads(text.partition("plan:\n")[2])) for text in heard if "plan:\n" in text]
    return [plan for plan in plans if "auto_explain." not in plan.text]


def _plan(explained: dict[str, Any]) -> Plan:
    nodes = list(_nodes(explained["Plan"]))
    top = explained["Plan"]
    return Plan(
        explained["Query Text"],
        frozenset(node["Index Name"] for node in nodes if "Index Name" in node),
        frozenset(node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"),
        top["Shared Hit Blocks"] + top["Shared Read Blocks"],
    )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)
