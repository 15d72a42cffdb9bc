"""The state diagrams of `docs/lifecycle.md`, drawn from the tables in `lifecycle.py`."""

from __future__ import annotations

from collections.abc import Iterable

from boardreadyops.domain.lifecycle import ATTEMPT_EDGES, NAMED_RUN_EDGES, RUN_EDGES


def run_diagram() -> str:
    """The release run as a Mermaid state diagram; edges of a single function carry their reason code."""
    general = _drawn((before, after) for before, targets in RUN_EDGES.items() for after in targets)
    named = (
        f"    {before} --> {after}: {reason}"
        for reason, edges in NAMED_RUN_EDGES.items()
        for before, after in edges
    )
    return "\n".join([*general, *named])


def attempt_diagram() -> str:
    """The execution attempt as a Mermaid state diagram."""
    return "\n".join(
        _drawn((before, after) for before, targets in ATTEMPT_EDGES.items() for after in targets)
    )


def _drawn(edges: Iterable[tuple[str, str]]) -> list[str]:
    lines = [f"    {before} --> {after}" for before, after in edges]
    return ["stateDiagram-v2", "    direction LR", "    [*] --> queued", *lines]
