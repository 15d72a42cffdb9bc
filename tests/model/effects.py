"""One-shot effects (§8): confirms, dispatches and cancellations, each claimed under a generation and settled once."""

from __future__ import annotations

from dataclasses import replace

from tests.model.rows import AttemptKey, Effect, EffectKey, RefKey, State

About = RefKey | AttemptKey | tuple[int, int]


def open_effect(state: State, kind: str, about: About) -> Effect | None:
    """The effect of this kind about this thing that is not settled, if there is one."""
    for effect in state.effects.values():
        if (effect.key.kind, effect.key.about) == (kind, about) and not effect.settled:
            return effect
    return None


def want(state: State, kind: str, about: About, now: int) -> None:
    """Owe GitHub something; what is owed already is not owed twice, and a workflow run is cancelled once."""
    number = 1 + sum((key.kind, key.about) == (kind, about) for key in state.effects)
    if open_effect(state, kind, about) is None and (number == 1 or kind != "workflow_cancel"):
        key = EffectKey(kind, about, number)
        state.effects[key] = Effect(key, 0, started=False, settled=False, available_at=now)


def call_off(state: State, kind: str, about: About) -> None:
    """What was owed makes no sense any more."""
    effect = open_effect(state, kind, about)
    if effect is not None:
        state.effects[effect.key] = replace(effect, settled=True)


def due(effect: Effect, now: int) -> bool:
    """Not settled, its back-off is over, and nobody holds it."""
    held = effect.claimed_until is not None and effect.claimed_until > now
    return not effect.settled and effect.available_at <= now and not held


def claim(state: State, lease_seconds: int, now: int) -> list[tuple[EffectKey, int]]:
    """Lease what is due; each claim raises the generation."""
    claimed = []
    for key, effect in list(state.effects.items()):
        if due(effect, now):
            generation = effect.generation + 1
            state.effects[key] = replace(effect, generation=generation, claimed_until=now + lease_seconds)
            claimed.append((key, generation))
    return claimed


def fenced(state: State, key: EffectKey, generation: int) -> str | None:
    """`not_found` or `stale`, or None for the present holder of an effect that is not settled."""
    effect = state.effects.get(key)
    if effect is None:
        return "not_found"
    return None if effect.generation == generation and not effect.settled else "stale"


def settle(state: State, key: EffectKey, generation: int) -> str:
    """The effect is done."""
    refused = fenced(state, key, generation)
    if refused is None:
        state.effects[key] = replace(state.effects[key], settled=True, claimed_until=None)
    return refused or "applied"


def defer(state: State, key: EffectKey, generation: int, delay_seconds: int, now: int) -> str:
    """Try it again later."""
    refused = fenced(state, key, generation)
    if refused is None:
        state.effects[key] = replace(state.effects[key], claimed_until=None, available_at=now + delay_seconds)
    return refused or "applied"


def resume(state: State, installation_id: int, now: int) -> None:
    """A tenant can be served again: much may have happened on GitHub while nobody told us, so its open refs are asked."""
    for ref in state.refs.values():
        if ref.open and state.repositories[ref.key.repository_id].installation_id == installation_id:
            want(state, "confirm", ref.key, now)
            effect = open_effect(state, "confirm", ref.key)
            assert effect is not None
            state.effects[effect.key] = replace(effect, available_at=min(now, effect.available_at))
