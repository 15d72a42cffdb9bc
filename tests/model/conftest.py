"""The model's own small world: one tenant, one repository, one runner."""

from __future__ import annotations

import pytest

from tests.model import model
from tests.model.rows import AttemptKey, Installation, Registration, Repository, RunKey, State

REF = "refs/pull/1/head"
A, B, C = (RunKey(10, REF, letter * 40) for letter in "abc")


def seen(
    run: RunKey = A, *, at: int = 0, open: bool = True, draft: bool = False, trust: str = "trusted"
) -> model.Seen:
    return model.Seen(
        1, 10, run.ref, open, draft, "main", "f" * 40, run.commit_sha, observed_at=at, trust_mode=trust
    )


def report(
    state: State, attempt: AttemptKey, status: str = "completed", decision: str = "pass", *, body: str = "one"
) -> model.Report:
    return model.Report(attempt.run, attempt, state.attempts[attempt].retry_number, body, status, decision)


def claimed(state: State, now: int, request: str = "r") -> AttemptKey:
    answer = model.claim(state, "bench", f"{request} {now}", now)
    assert answer.outcome == "created"
    assert answer.attempt is not None
    return answer.attempt


def backend(state: State, name: str) -> None:
    state.installations[1] = Installation(1, execution_backend=name)


@pytest.fixture
def state() -> State:
    return State(
        installations={1: Installation(1), 2: Installation(2)},
        repositories={10: Repository(10, 1), 20: Repository(20, 2)},
        registrations={
            "bench": Registration("bench", 1),
            "other": Registration("other", 2),
            "managed": Registration("managed", None),
        },
    )
