"""What the walks of the model draw from."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.model import model
from tests.model.edges import ATTEMPT_EDGES, ATTEMPT_TERMINAL, RUN_EDGES, RUN_TERMINAL

TENANTS = {1: [10], 2: [20]}
RUNNERS = {"own-1": 1, "own-2": 2, "managed": None}
REFS = ((1, 10, 1, "trusted"), (1, 10, 2, "fork"), (2, 20, 1, "trusted"))
SHAS = tuple(letter * 40 for letter in "abc")
RUN_STATUSES = (*sorted(RUN_EDGES), *sorted(RUN_TERMINAL))
ATTEMPT_STATUSES = (*sorted(ATTEMPT_EDGES), *sorted(ATTEMPT_TERMINAL))
PAIRS = (
    ("completed", "pass"),
    ("completed", "fail"),
    ("failed", "error"),
    ("timed_out", "error"),
    ("completed", "error"),
)
Draw = st.DataObject


def seen(draw: Any) -> model.Seen:
    installation, repository, number, trust = draw(st.sampled_from(REFS))
    return model.Seen(
        installation,
        repository,
        f"refs/pull/{number}/head",
        open=draw(st.sampled_from((True, True, True, False))),
        draft=draw(st.sampled_from((False, False, True))),
        base_ref="main",
        base_sha=draw(st.sampled_from(("e" * 40, "e" * 40, "f" * 40))),
        head_sha=draw(st.sampled_from(SHAS)),
        observed_at=draw(st.integers(0, 9)),
        trust_mode=trust,
    )


SEEN = st.composite(seen)()
