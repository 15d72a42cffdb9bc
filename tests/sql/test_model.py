"""The real functions beside the reference model: the same calls, the same outcomes, the same whole rows."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conftest import DatabaseUrls
from tests.model.adapter import Adapter
from tests.model.walk_github import WalkGitHub
from tests.model.walk_refs import WalkRefs
from tests.model.walk_runners import WalkRunners


class Lifecycle(WalkRefs, WalkRunners, WalkGitHub):
    """All rules on one world."""


_SEED = "BOARDREADYOPS_TEST_SEED"
PROFILE = settings(
    max_examples=120,
    stateful_step_count=40,
    deadline=None,
    derandomize=_SEED
    not in os.environ,  # the same walks every time; with the variable set, those of its number
    print_blob=True,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)


@pytest.fixture
def adapter(database_urls: DatabaseUrls) -> Iterator[Adapter]:
    with Adapter(database_urls.app, database_urls.owner) as adapter:
        yield adapter


def test_the_functions_answer_and_write_what_the_model_says(adapter: Adapter) -> None:
    machine = type("Machine", (Lifecycle,), {"adapter": adapter})
    if _SEED in os.environ:
        machine = seed(int(os.environ[_SEED]))(machine)
    run_state_machine_as_test(machine, settings=copy.copy(PROFILE))
