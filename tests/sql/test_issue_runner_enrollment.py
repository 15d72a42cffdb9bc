"""Enrolments: for whom, for how long, and once."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest

from boardreadyops.db.runners import issue_runner_enrollment, register_runner
from tests.sql.conftest import World
from tests.sql.test_neighbours import found


@pytest.mark.parametrize("fault", ["unknown", "used", "expired"])
async def test_a_bad_enrolment_is_refused_without_saying_which(world: World, fault: str) -> None:
    digest = hashlib.sha256(b"enrolment").digest()
    async with world.app.transaction() as connection:
        await issue_runner_enrollment(
            connection,
            installation_id=1,
            repository_ids=[10],
            name="bench",
            token_digest=digest,
            ttl_seconds=900,
        )
    if fault == "expired":
        await world.owner.execute("UPDATE runner_enrollments SET expires_at = created_at")
    outcomes = []
    for attempt in range(2):
        async with world.app.transaction() as connection:
            answer = await register_runner(
                connection,
                enrollment_digest=hashlib.sha256(b"other").digest() if fault == "unknown" else digest,
                token_digest=hashlib.sha256(bytes([attempt])).digest(),
                name="bench",
                runner_version="1",
            )
        outcomes.append(answer.outcome)
    assert outcomes == (["registered", "refused"] if fault == "used" else ["refused", "refused"])


@pytest.mark.parametrize(
    ("installation_id", "repositories", "ttl_seconds", "outcome"),
    [(1, [10], 3600, "issued"), (None, None, 1, "issued"), (3, None, 60, "not_found"), (1, [11], 60, "not_found"),
     (1, [10, 20], 60, "not_found"), (None, [10], 60, "invalid"), (1, None, 3601, "invalid"), (1, None, 0, "invalid"),
     (1, None, None, "invalid")],
)  # fmt: skip
async def test_an_enrolment_names_its_own_tenant_and_lives_at_most_an_hour(
    world: World,
    installation_id: int | None,
    repositories: list[int] | None,
    ttl_seconds: int | None,
    outcome: str,
) -> None:
    await found(world, 2, 20)
    arguments = installation_id, repositories, "bench", b"\1" * 32, ttl_seconds
    assert await world.answer("issue_runner_enrollment", *arguments) == outcome
    assert await world.count("runner_enrollments") == (1 if outcome == "issued" else 0)


async def test_an_enrolment_is_over_at_its_last_moment_and_a_refusal_registers_nobody(world: World) -> None:
    await world.call("issue_runner_enrollment", 1, None, "bench", b"\1" * 32, 900)
    expires_at = await world.owner.fetchval("SELECT expires_at FROM runner_enrollments")
    arguments = b"\1" * 32, b"\2" * 32, "bench", "1"
    assert await world.answer("register_runner", *arguments, expires_at) == "refused"
    assert await world.count("runner_registrations") == 0
    just = expires_at - timedelta(microseconds=1)
    assert await world.answer("register_runner", *arguments, just) == "registered"


async def test_two_enrolments_make_two_registrations(world: World) -> None:
    digests = [hashlib.sha256(bytes([number])).digest() for number in range(2)]
    for number, digest in enumerate(digests):
        await world.call("issue_runner_enrollment", None, None, f"bench-{number}", digest, 900)
    (registered,) = await world.call("register_runner", digests[1], digests[0], "bench-1", "1")
    assert registered["registration_outcome"] == "registered"
    used = await world.owner.fetch("SELECT registration_id FROM runner_enrollments ORDER BY name")
    assert [row[0] for row in used] == [None, registered["registration_id"]]
