"""One list of states: the diagrams and the table of reasons in the documentation are the program's own."""

from __future__ import annotations

import re
from pathlib import Path

from boardreadyops.domain.diagram import attempt_diagram, run_diagram
from boardreadyops.domain.lifecycle import (
    ATTEMPT_EDGES,
    REASONS,
    RUN_EDGES,
    TERMINAL_RUN_STATUSES,
    AttemptStatus,
    RunStatus,
)

PAGE = Path(__file__).parents[2] / "docs" / "lifecycle.md"


def test_the_documented_diagrams_are_drawn_from_the_tables() -> None:
    diagrams = re.findall(r"```mermaid\n(.*?)\n```", PAGE.read_text(), re.DOTALL)
    assert diagrams == [run_diagram(), attempt_diagram()]


def test_the_documented_reasons_are_the_programs_reasons() -> None:
    documented = dict(re.findall(r"^\| `([a-z_]+)` \| (.+[.]) \|$", PAGE.read_text(), re.MULTILINE))
    assert documented == REASONS


def test_every_reason_code_is_well_formed() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+([._-][a-z0-9]+)*", code) and len(code) <= 128 for code in REASONS)


def test_a_state_without_an_edge_is_terminal() -> None:
    assert set(RunStatus) - set(RUN_EDGES) == TERMINAL_RUN_STATUSES
    assert set(AttemptStatus) - set(ATTEMPT_EDGES) == {
        "completed",
        "failed",
        "cancelled",
        "timed_out",
        "stale",
        "superseded",
    }
