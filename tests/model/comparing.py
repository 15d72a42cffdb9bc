"""Whole rows beside whole rows: the model's state and the database's, field by field."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from tests.model.rows import Effect, EffectKey, Event, Lease, State

COMPARED = ("refs", "runs", "attempts", "leases", "publications", "results")


def differences(model: State, database: State) -> list[str]:
    """Every field in which the two disagree, the model's value first; events entity by entity."""
    found = []
    for name in COMPARED:
        found += _rows(name, getattr(model, name), getattr(database, name))
    found += _rows("effects", model.effects, _owed(model, database))
    found += _rows("events", _chains(model.events), _chains(database.events))
    audits = [sorted(map(repr, state.audits)) for state in (model, database)]
    if audits[0] != audits[1]:
        found.append(f"audits: the model has {audits[0]}, the database {audits[1]}")
    return found


def _owed(model: State, database: State) -> Mapping[EffectKey, Effect]:
    """The database may plan a dispatch before it is due, and keep one that will never be: nobody is sent either."""
    return {
        key: effect
        for key, effect in database.effects.items()
        if key in model.effects or key.kind != "workflow_dispatch" or effect.started
    }


def _rows(name: str, model: Mapping[Any, object], database: Mapping[Any, object]) -> list[str]:
    found = [f"{name} {key}: only the model has it" for key in model if key not in database]
    found += [f"{name} {key}: only the database has it" for key in database if key not in model]
    for key, expected in model.items():
        if key in database:
            found += [f"{name} {key}: {difference}" for difference in _fields(expected, database[key])]
    return found


def _fields(expected: object, actual: object) -> list[str]:
    if isinstance(expected, Lease) and isinstance(actual, Lease):
        expected, actual = _without_past_snapshot(expected), _without_past_snapshot(actual)
    if isinstance(expected, Effect) and isinstance(actual, Effect) and expected.settled and actual.settled:
        expected, actual = (
            replace(effect, available_at=0, claimed_until=None) for effect in (expected, actual)
        )
    if expected == actual:
        return []
    if isinstance(expected, list):
        return [f"the model says {expected}, the database {actual}"]
    return [
        f"{field.name}: the model says {getattr(expected, field.name)!r}, the database {getattr(actual, field.name)!r}"
        for field in fields(expected)  # type: ignore[arg-type]
        if field.compare and getattr(expected, field.name) != getattr(actual, field.name)
    ]


def _without_past_snapshot(lease: Lease) -> Lease:
    """What an ended lease last owned is nobody's business."""
    if lease.state == "active":
        return lease
    return replace(lease, run_status="", run_version=0, attempt_status="", attempt_version=0, expires_at=0)


def _chains(events: list[Event]) -> dict[object, list[Event]]:
    chains: dict[object, list[Event]] = defaultdict(list)
    for event in events:
        chains[event.entity].append(event)
    return chains
