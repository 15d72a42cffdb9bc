"""What the walks of the model draw from."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from tests.model import model
from tests.model.edges import ATTEMPT_EDGES, ATTEMPT_TERMINAL, RUN_EDGES, RUN_TERMINAL


class World(NamedTuple):
    """The refs that one walk moves on; fewer of them make it go deeper."""

    pulls: tuple[tuple[int, int, int, str], ...]
    pushes: tuple[tuple[int, int, str], ...]

    @property
    def installations(self) -> list[int]:
        return sorted({pull[0] for pull in self.pulls} | {push[0] for push in self.pushes})


TENANTS = {1: [10], 2: [20], 3: [30]}
ACTIONS = frozenset({3})
RUNNERS = {"own-1": 1, "own-2": 2, "managed": None}
# What a walk is about: pull requests (installation, repository, number, trust) and pushed refs.
PULLS = ((1, 10, 1, "trusted"), (1, 10, 2, "fork"), (2, 20, 1, "trusted"))
ACTIONS_PULLS = ((3, 30, 1, "trusted"), (3, 30, 2, "fork"))
PUSHES = (
    (1, 10, "refs/heads/main"),
    (1, 10, "refs/heads/gh-readonly-queue/main/pr-1"),
    (3, 30, "refs/tags/v1"),
)
WORLDS = (
    World(PULLS, ()),
    World(ACTIONS_PULLS, ()),
    World(PULLS[:1] + ACTIONS_PULLS[:1], PUSHES),
)
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


def seen(data: Draw, world: World) -> model.Seen:
    """A pull request as a payload shows it."""
    installation, repository, number, trust = data.draw(st.sampled_from(world.pulls), label="pull request")
    return model.Seen(
        installation,
        repository,
        f"refs/pull/{number}/head",
        open=data.draw(st.sampled_from((True, True, True, False)), label="open"),
        draft=data.draw(st.sampled_from((False, False, True)), label="draft"),
        base_ref="main",
        base_sha=data.draw(st.sampled_from(("e" * 40, "e" * 40, "f" * 40)), label="base"),
        head_sha=data.draw(st.sampled_from(SHAS), label="head"),
        observed_at=data.draw(st.integers(0, 9), label="observed at"),
        trust_mode=trust,
    )


def pushed(data: Draw, world: World) -> model.Pushed:
    """A push to a branch, a tag or a merge-queue ref."""
    place = data.draw(st.sampled_from(world.pushes), label="pushed ref")
    before = data.draw(st.sampled_from((*SHAS, "0" * 40)), label="before")
    after = data.draw(st.sampled_from((*SHAS, *SHAS, None)), label="after")
    return model.Pushed(*place, before, after)


# GitHub's run ids with their run_attempts; two of them for one attempt are one too many.
WORKFLOWS = ((901, 1), (902, 1), (903, 1), (901, 2), (902, 2), (901, 3))
