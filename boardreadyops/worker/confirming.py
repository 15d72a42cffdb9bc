"""A pull request looked up on GitHub, because what webhooks said of it does not settle which word is the newest."""

from __future__ import annotations

from boardreadyops.db.outbox import ClaimedEffect, ref_observation, settle_outbox
from boardreadyops.db.pool import Connection, Database, run_transaction
from boardreadyops.db.runs import close_ref, enqueue_release_run
from boardreadyops.domain.identity import Observation
from boardreadyops.github.client import GitHubClient
from boardreadyops.github.fields import Fields, MalformedField
from boardreadyops.github.pulls import read_observation
from boardreadyops.github.requests import Failure, get_pull

# A ref that moves each time we look is told by its webhooks anyway.
MAX_CONFIRM_SENDS = 20


async def confirm(database: Database, github: GitHubClient, effect: ClaimedEffect) -> str | Failure:
    """Apply GitHub's own answer if nothing newer came meanwhile, and settle the effect: how it was settled. Repeatable."""
    async with database.connection() as connection:
        captured = await ref_observation(connection, repository_id=effect.repository_id, ref=effect.ref)
    if captured is None or effect.pull_request_number is None:
        return await _settle(database, effect, "unknown_ref")
    request = get_pull(effect.repository_owner, effect.repository_name, effect.pull_request_number)
    answer = await github.request(effect.installation_id, request)
    if isinstance(answer, Failure):
        return await _settle(database, effect, "gone") if answer.error_class == "gone" else answer
    try:
        seen = read_observation(
            Fields(answer.body), installation_id=effect.installation_id, repository_id=effect.repository_id
        )
    except MalformedField as error:
        return Failure("transient", "malformed_answer", f"the field {error} of a pull request is malformed")
    if seen.ref != effect.ref:
        return Failure("transient", "malformed_answer", "another pull request was answered")

    async def apply(connection: Connection) -> str:
        # One transaction: a request for another look, made after ours was applied, must not find ours still open.
        outcome = await _apply(connection, seen, captured)
        if outcome == "moved_on" and effect.send_count < MAX_CONFIRM_SENDS:
            return outcome
        code = outcome if outcome in ("moved_on", "disabled", "not_found") else "confirmed"
        await settle_outbox(
            connection, effect_id=effect.effect_id, generation=effect.generation, outcome_code=code
        )
        return code

    settled = await run_transaction(database, apply)
    if settled == "moved_on" and effect.send_count < MAX_CONFIRM_SENDS:
        return Failure("transient", "moved_on", "the pull request moved on while it was looked up")
    return settled


async def _apply(connection: Connection, seen: Observation, captured: int) -> str:
    if seen.open:
        return (await enqueue_release_run(connection, seen, confirmed_observation=captured)).outcome
    return (await close_ref(connection, seen, confirmed_observation=captured)).outcome


async def _settle(database: Database, effect: ClaimedEffect, code: str) -> str:
    async with database.connection() as connection:
        await settle_outbox(
            connection, effect_id=effect.effect_id, generation=effect.generation, outcome_code=code
        )
    return code
